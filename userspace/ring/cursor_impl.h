// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ring/file_layout.h"
#include "ring/record_view.h"
#include "ring/ring_source.h"
#include "ring/version_evidence.h"
#include "tracer/ring/cursor.h"

#include <array>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace tracer::ring {

class Cursor::Impl {
public:
    Impl(std::unique_ptr<RingSource> source, const CursorOptions& options)
        : source_(std::move(source)), options_(options) {}

    // The first look at the file.
    [[nodiscard]] Status begin();
    [[nodiscard]] Result<PollResult> poll(Visitor& visitor, size_t events_max);
    void finish(Visitor& visitor);
    [[nodiscard]] std::string_view name_of(const Event& event);
    [[nodiscard]] std::vector<UserEvent> user_events() const;
    [[nodiscard]] RingOwner owner_of(uint32_t ring) const;
    [[nodiscard]] const Producer& producer() const { return producer_; }

private:
    // A cursor's place in one ring.
    struct RingPlace {
        uint64_t position = 0;  // all before was read or is lost
        uint64_t head = 0;      // when last looked at
        uint64_t tail = 0;
        uint64_t sequence = 0;      // of the last event read
        bool has_sequence = false;  // `sequence` is one, or 0 at the ring's beginning
        uint64_t last_ns = 0;       // of the last event read
        uint64_t lost_words = 0;    // not told yet
        bool is_malformed = false;  // some of lost_words
        uint64_t events_read = 0;   // for the mean length of a record
        uint64_t words_read = 0;
    };
    // Words of one ring, safely copied: none of them can be torn.
    struct Copied {
        uint64_t begin = 0;
        std::span<const uint64_t> words;
    };
    // One poll's state.
    struct Pass {
        Visitor& visitor;
        size_t events_max = 0;
        PollResult result;
        [[nodiscard]] bool is_over() const {
            return result.is_stopped || result.events >= events_max;
        }
    };

    [[nodiscard]] Status look(bool& is_restart);
    [[nodiscard]] Status adopt(const MetadataWords& metadata);
    [[nodiscard]] Status read_headers();
    [[nodiscard]] bool has_begun_anew();
    [[nodiscard]] bool is_first_record_other();
    void read_producer();
    void refresh_producer();
    void place_all(Start start);
    void measure_fill(PollResult& result) const;

    [[nodiscard]] Status read_ring(uint32_t ring, Pass& pass);
    [[nodiscard]] Result<Copied> copy(uint32_t ring, const Pass& pass);
    void deliver_copied(uint32_t ring, const Copied& copied, Pass& pass);
    void deliver(uint32_t ring,
                 const RecordHeader& header,
                 std::span<const uint64_t> record,
                 Pass& pass);
    void tell_lost(uint32_t ring, const Event* next, Pass& pass);
    [[nodiscard]] Lost settle_lost(uint32_t ring, const Event* next);
    void skip_to(RingPlace& place, uint64_t position, bool is_malformed);
    [[nodiscard]] std::string_view user_name(uint32_t id);
    [[nodiscard]] std::vector<std::byte> registered_types() const;
    [[nodiscard]] std::string_view numbered(std::string_view kind, uint32_t id);

    std::unique_ptr<RingSource> source_;
    CursorOptions options_;
    MetadataWords metadata_{};
    std::optional<FileLayout> layout_;
    std::vector<RingPlace> places_;
    std::vector<uint64_t> headers_;  // as read by the last look
    // The first two words of ring 0 while nothing of it is overwritten: another program begins with
    // another time.
    std::optional<std::array<uint64_t, 2>> first_record_;
    VersionEvidence evidence_;
    Producer producer_;
    std::vector<uint64_t> buffer_;
    uint32_t next_ring_ = 0;
    bool is_polling_ = false;
    std::unordered_map<uint32_t, std::string> user_names_;  // that are not empty
    std::string numbered_;
};

}  // namespace tracer::ring
