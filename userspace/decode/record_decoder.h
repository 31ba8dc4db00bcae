// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode/cxx_type_names.h"
#include "decode/decoder.h"
#include "decode/event_output.h"
#include "decode/keyed_spans.h"
#include "decode/schedule.h"
#include "decode/span_stacks.h"
#include "decode/task_table.h"
#include "tracer/abi/event.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tracer {

// `bytes` holds at least a T: the dispatch has checked it.
template <typename T>
[[nodiscard]] T read_as(std::span<const std::byte> bytes) {
    T record{};
    std::memcpy(&record, bytes.data(), sizeof(T));
    return record;
}

// A string_view over bytes is the one cast that the language allows for reading text in place.
[[nodiscard]] inline std::string_view text_in_place(std::span<const std::byte> text) {
    return {static_cast<const char*>(static_cast<const void*>(text.data())), text.size()};
}

// What Decoder::make returns: the dispatch by kind, and the parts that know about tasks, spans,
// CPUs and holes in the output.
class RecordDecoder final : public Decoder, private TaskObserver, private HoleObserver {
public:
    RecordDecoder(RecordingDefinitions definitions, TraceWriter& writer);

    void on_record(std::span<const std::byte> record) override;
    void on_records(std::span<const RecordView> records) override;
    void add(const std::vector<model::Point>& points,
             const std::vector<ProbeDefinition>& probes) override;
    void finish(uint64_t now_ns) override;
    [[nodiscard]] const DecoderCounters& counters() const override { return counters_; }
    [[nodiscard]] uint64_t hits(uint32_t probe_id) const override;
    [[nodiscard]] std::vector<SpanTally> span_tallies() const override { return ledger_.tallies(); }
    [[nodiscard]] uint64_t first_ns() const override { return first_ns_; }
    [[nodiscard]] uint64_t last_ns() const override { return last_ns_; }

private:
    // A ProbeDefinition ready for the hot path: one cache line, found by a shift.
    struct alignas(64) Probe {
        bool is_defined = false;
        HitRole role = HitRole::instant;
        bool is_counter = false;
        // An instant, every slot of which holds an integer or pointer of the type that the point
        // declares: what TraceWriter::write_plain() takes.
        bool is_plain = false;
        bool has_integers_only = false;  // or pointers: slots that are values as they lie
        bool has_name = false;           // of its own for each hit: in names_
        bool has_line = false;           // of its own: in lines_
        bool is_line_of_process = false;
        bool yields_to_ring = false;
        uint16_t bytes_min = 0;   // of a record with all slots
        uint8_t slot_count = 0;   // the hidden ones included
        uint8_t first_value = 0;  // of those that are shown
        PairKey key = PairKey::none;
        uint8_t key_slots = 0;
        model::PointIndex point{};
        uint32_t f32_slots = 0;                             // bit by slot
        uint32_t cxx_type_slots = 0;                        // bit by slot
        uint32_t place = 0;                                 // ProbeDefinition::place
        std::array<model::ValueType, TR_ARGS_MAX> types{};  // by slot
        uint64_t hits = 0;
    };

    // What events of programs' rings refer to.
    struct RingPoint {
        model::PointIndex point{};
        model::PointKind kind = model::PointKind::instant;
        uint16_t value = TR_RING_VALUE_none;
    };

    // An open gap of one ring.
    struct Gap {
        bool is_open = false;
        uint64_t begin_ns = 0;
    };

    using Bytes = std::span<const std::byte>;

    [[nodiscard]] size_t take_plain_hits(std::span<const RecordView> records);
    void dispatch(Bytes bytes);
    void note_time(uint64_t time_ns) {
        if (first_ns_ == 0) first_ns_ = time_ns;
        last_ns_ = std::max(last_ns_, time_ns);
    }

    // One a kind of TR_RECORD_KINDS, each sure of at least its struct's bytes.
    void on_none(const tr_record_header& header, Bytes bytes);
    void on_hit(const tr_record_header& header, Bytes bytes);
    void on_sched_switch(const tr_record_header& header, Bytes bytes);
    void on_sched_wakeup(const tr_record_header& header, Bytes bytes);
    void on_task_new(const tr_record_header& header, Bytes bytes);
    void on_task_exec(const tr_record_header& header, Bytes bytes);
    void on_task_exit(const tr_record_header& header, Bytes bytes);
    void on_task_rename(const tr_record_header& header, Bytes bytes);
    void on_task_info(const tr_record_header& header, Bytes bytes);
    void on_gap_begin(const tr_record_header& header, Bytes bytes);
    void on_gap_end(const tr_record_header& header, Bytes bytes);
    void on_clock(const tr_record_header& header, Bytes bytes);
    void on_task_select(const tr_record_header& header, Bytes bytes);
    // ring_events.cpp
    void on_ring_point(const tr_record_header& header, Bytes bytes);
    void on_ring_track(const tr_record_header& header, Bytes bytes);
    void on_ring_event(const tr_record_header& header, Bytes bytes);
    void on_ring_lost(const tr_record_header& header, Bytes bytes);
    struct RingTrack;
    [[nodiscard]] Task* ring_track_of(uint32_t producer, uint32_t ring);
    [[nodiscard]] Task& task_of(const RingTrack& track);
    [[nodiscard]] bool is_thread_of(uint32_t tgid, uint32_t tid);
    void write_ring_instant(const RingPoint& point,
                            Task& track,
                            const tr_ring_event& record,
                            std::string_view text);
    void close_rings(Process& process, uint64_t time_ns);
    // Of the output and the ledger; the definitions' own indices are counted without those of
    // rings.
    model::PointIndex add_point(model::Point point, bool comes_late = false);
    // Those of a minor version that has them.
    void take_ns_ids(Task& task, Bytes bytes);

    // What this hit is called, from its values; empty: as its point. Lives until the next hit.
    [[nodiscard]] std::string_view name_of(const Probe& probe,
                                           uint32_t probe_id,
                                           std::span<const model::Value> values);
    [[nodiscard]] bool read_values(const Probe& probe, const tr_record_header& header, Bytes bytes);
    [[nodiscard]] bool read_value(const Probe& probe, size_t slot, uint64_t raw, Bytes bytes);
    [[nodiscard]] bool read_string(Bytes bytes, uint64_t raw_slot, model::Value& out);
    void on_frame_hit(const Probe& probe,
                      Task& track,
                      uint64_t frame_key,
                      const When& when,
                      std::span<const model::Value> values,
                      std::string_view name);
    void on_pair_hit(const Probe& probe,
                     uint32_t probe_id,
                     Task& task,
                     const When& when,
                     std::span<const model::Value> values,
                     std::string_view name);
    // The same of the line that a hit's event is shown on.
    [[nodiscard]] std::string_view line_of(const Probe& probe,
                                           uint32_t probe_id,
                                           std::span<const model::Value> values);
    // What an event of the thread or fiber is shown on: it, or a line beside it, or of its process.
    [[nodiscard]] Task& track_of(const Probe& probe,
                                 uint32_t probe_id,
                                 Task& task,
                                 std::span<const model::Value> values);
    // The process writes such events to a ring, which is read.
    [[nodiscard]] static bool is_told_by_ring(const Probe& probe, const Task& task) {
        return probe.yields_to_ring && task.process->has_ring;
    }
    [[nodiscard]] static bool is_pair_ending(HitRole role) {
        return role == HitRole::pair_end || role == HitRole::pair_until;
    }
    // Where the span is that an end would close: `begin_of` tells when it began on a track.
    template <typename Function>
    [[nodiscard]] Task& holder_of(const Probe& probe, Task& task, Function begin_of);
    template <typename Function>
    [[nodiscard]] Task& end_track_of(const Probe& probe,
                                     uint32_t probe_id,
                                     Task& task,
                                     std::span<const model::Value> values,
                                     Function begin_of);
    // The hit of a probe that makes no span (hit_meanings.cpp).
    void on_counter_hit(const Probe& probe,
                        Task& task,
                        const When& when,
                        std::span<const model::Value> values,
                        std::string_view name);
    void on_state_hit(const Probe& probe,
                      uint32_t probe_id,
                      Task& task,
                      const When& when,
                      std::span<const model::Value> values,
                      std::string_view name);
    void on_naming_hit(const Probe& probe,
                       uint32_t probe_id,
                       Task& task,
                       std::span<const model::Value> values,
                       std::string_view name);
    // The spans of a thread or fiber, and of the lines beside it.
    void close_thread(Task& task, uint64_t time_ns, model::SpanEndCause cause);
    void break_at_gap(const tr_record_header& header);
    // pauses.cpp
    void on_pause_hit(uint32_t probe_id, uint64_t time_ns);
    void on_fiber_hit(const Probe& probe,
                      const tr_record_header& header,
                      Process& process,
                      std::string_view name);
    void close_tracks(Process& process, uint64_t time_ns);

    void on_forget(Task& task) override;
    void on_hole(uint64_t begin_ns) override;

    const RecordingDefinitions definitions_;
    TraceWriter& writer_;
    DecoderCounters counters_;
    EventOutput output_;
    TaskTable tasks_;
    SpanLedger ledger_;
    SpanStacks spans_;
    KeyedSpans keyed_;
    Schedule schedule_;
    std::vector<model::Point> points_;
    std::vector<model::PointIndex> defined_points_;  // by the index of their definition
    bool points_come_late_ = false;                  // those that are added from now on
    std::vector<RingPoint> ring_points_;             // by tr_ring_point::point
    std::optional<model::PointIndex> ring_loss_point_;
    // Where a ring's events go: the thread that writes it, or where nobody says which that is, a
    // track of their own.
    struct RingTrack {
        std::unique_ptr<Task> own;
        uint32_t tgid = 0;
        uint32_t tid = 0;
    };
    std::unordered_map<uint64_t, RingTrack> ring_tracks_;         // by producer and ring
    std::vector<Probe> probes_;                                   // by probe id
    std::vector<Gap> gaps_;                                       // by ring
    std::unordered_map<uint32_t, std::vector<NamePiece>> names_;  // by probe id, of those with one
    CxxTypeNames type_names_;                                     // for values_
    std::unordered_map<uint32_t, std::vector<NamePiece>> lines_;  // the same
    std::vector<bool> is_on_line_;  // by point: its spans may be on lines beside their threads
    std::string name_;              // of the hit at hand
    std::string line_;
    std::array<model::Value, TR_ARGS_MAX> values_{};
    uint64_t first_ns_ = 0;
    uint64_t last_ns_ = 0;
};

}  // namespace tracer
