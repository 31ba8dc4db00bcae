// SPDX-License-Identifier: Apache-2.0
//
// The decoder's dispatch and the kinds that need little thought. Adding a kind of record: a row in
// TR_RECORD_KINDS makes the switch below ask for on_<name>.
//
// Records come from the kernel or from a capture that anyone may have made: each is copied into its
// struct after a check of its size, and no number in it is used as an index unchecked.
//
// Called by the session's drain thread and by `tracer convert`.
#include "decode/record_decoder.h"

#include "tracer/base/result.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tracer {

namespace {

bool is_integer(model::ValueType type) {
    using model::ValueType;
    return type == ValueType::s32 || type == ValueType::u32 || type == ValueType::s64 ||
           type == ValueType::u64 || type == ValueType::pointer;
}

// `arguments` are those of the definition's point.
bool are_slots_of(const std::vector<model::Argument>& arguments,
                  const ProbeDefinition& definition) {
    return std::equal(definition.slots.begin(), definition.slots.end(), arguments.begin(),
                      arguments.end(), [](model::ValueType slot, const model::Argument& argument) {
                          return slot == argument.type;
                      });
}

// The kernel's code is status << 8 | signal, with 0x80 in the signal for a core dump.
int32_t exit_code_of(const tr_task& record) {
    const auto code = static_cast<uint32_t>(record.exit_code);
    const uint32_t signal = code & 0x7f;
    return static_cast<int32_t>(signal != 0 ? 128 + signal : (code >> 8) & 0xff);
}

}  // namespace

std::unique_ptr<Decoder> Decoder::make(RecordingDefinitions definitions, TraceWriter& writer) {
    return std::make_unique<RecordDecoder>(std::move(definitions), writer);
}

RecordDecoder::RecordDecoder(RecordingDefinitions definitions, TraceWriter& writer)
    : definitions_(std::move(definitions)),
      writer_(writer),
      output_(writer, *this, counters_),
      tasks_(definitions_, writer, *this),
      ledger_(counters_),
      spans_(tasks_, output_, ledger_),
      keyed_(tasks_, output_, ledger_),
      schedule_(tasks_, output_, counters_, definitions_.own_pid),
      probes_(TR_PROBE_FIRST_USER) {
    add(definitions_.points, definitions_.probes);
    points_come_late_ = true;
}

void RecordDecoder::add(const std::vector<model::Point>& points,
                        const std::vector<ProbeDefinition>& probes) {
    for (const model::Point& point : points) {
        TR_CHECK(static_cast<size_t>(point.index) == defined_points_.size());
        defined_points_.push_back(add_point(point, points_come_late_));
    }
    for (const ProbeDefinition& definition : probes) {
        TR_CHECK(static_cast<size_t>(definition.point) < defined_points_.size());
        const auto index = defined_points_[static_cast<size_t>(definition.point)];
        const auto point = static_cast<size_t>(index);
        const size_t first_slot = hidden_slots(definition.role);
        const size_t hidden_keys =
            definition.role == HitRole::pair_begin ? 0 : definition.key_slots();
        TR_CHECK(definition.probe_id <= kProbeIdMax);
        TR_CHECK(definition.slots.size() + first_slot <= TR_ARGS_MAX);
        TR_CHECK(definition.slots.size() >= definition.key_slots());
        if (definition.probe_id >= probes_.size()) probes_.resize(definition.probe_id + size_t{1});
        Probe& probe = probes_[definition.probe_id];
        TR_CHECK(!probe.is_defined);
        probe.is_defined = true;
        probe.role = definition.role;
        probe.is_counter = points_[point].kind == model::PointKind::counter;
        probe.key = definition.key;
        probe.key_slots = static_cast<uint8_t>(definition.key_slots());
        probe.first_value = static_cast<uint8_t>(first_slot + hidden_keys);
        probe.f32_slots = uint32_t{definition.f32_slots} << first_slot;
        probe.cxx_type_slots = uint32_t{definition.cxx_type_slots} << first_slot;
        probe.slot_count = static_cast<uint8_t>(definition.slots.size() + first_slot);
        probe.bytes_min =
            static_cast<uint16_t>(sizeof(tr_record_header) + probe.slot_count * sizeof(uint64_t));
        probe.point = index;
        probe.place = definition.place;
        probe.has_integers_only =
            std::all_of(definition.slots.begin(), definition.slots.end(), is_integer);
        probe.has_name = !definition.name.empty() && definition.role != HitRole::span_end;
        if (probe.has_name) names_[definition.probe_id] = definition.name;
        probe.has_line = !definition.line.empty();
        probe.is_line_of_process = definition.is_line_of_process;
        probe.yields_to_ring = definition.yields_to_ring;
        if (probe.has_line) {
            lines_[definition.probe_id] = definition.line;
            is_on_line_.resize(points_.size());
            is_on_line_[point] = true;
        }
        probe.is_plain = probe.has_integers_only && !probe.has_name && !probe.has_line &&
                         !probe.yields_to_ring && definition.role == HitRole::instant &&
                         !probe.is_counter && are_slots_of(points_[point].arguments, definition);
        std::copy(definition.slots.begin(), definition.slots.end(),
                  probe.types.begin() + static_cast<long>(first_slot));
        ledger_.add(definition, index);
    }
}

model::PointIndex RecordDecoder::add_point(model::Point point, bool comes_late) {
    point.index = model::PointIndex{static_cast<uint32_t>(points_.size())};
    ledger_.add(point, comes_late);
    writer_.define(point);
    points_.push_back(std::move(point));
    return points_.back().index;
}

// With their process. Their indexes are never given to others.
void RecordDecoder::close_tracks(Process& process, uint64_t time_ns) {
    for (auto& [id, fiber] : process.fibers) {
        close_thread(*fiber, time_ns, model::SpanEndCause::thread_exit);
    }
    process.fibers.clear();
    for (auto& [name, line] : process.lines) {
        spans_.close(*line, time_ns, model::SpanEndCause::thread_exit);
    }
    process.lines.clear();
    close_rings(process, time_ns);
}

void RecordDecoder::close_thread(Task& task, uint64_t time_ns, model::SpanEndCause cause) {
    spans_.close(task, time_ns, cause);
    for (const auto& line : task.lines) spans_.close(*line, time_ns, cause);
}

void RecordDecoder::on_record(std::span<const std::byte> record) {
    if (record.size() >= sizeof(tr_record_header)) {
        const RecordView view = view_record(record.data(), record.size());
        if (view.size != 0) {
            on_records({&view, 1});
            return;
        }
    }
    ++counters_.records;
    ++counters_.malformed;
}

void RecordDecoder::dispatch(Bytes bytes) {
    const auto header = read_as<tr_record_header>(bytes);
    note_time(header.time_ns);
    // What follows may define and forget tasks.
    output_.flush();
    switch (header.kind) {
#define TR_KIND_CASE(number, name, type)   \
    case number:                           \
        if (bytes.size() < sizeof(type)) { \
            ++counters_.malformed;         \
            return;                        \
        }                                  \
        on_##name(header, bytes);          \
        return;
        TR_RECORD_KINDS(TR_KIND_CASE)
#undef TR_KIND_CASE
        default:  // not an enum of ours to be complete over: a newer minor version's kind
            ++counters_.unknown_kinds;
            return;
    }
}

// Given up after it was reserved; the merger keeps these to itself, a capture made by others may
// not.
void RecordDecoder::on_none(const tr_record_header&, Bytes) {}

void RecordDecoder::on_sched_switch(const tr_record_header&, Bytes bytes) {
    ++probes_[TR_PROBE_sched_switch].hits;
    schedule_.on_switch(read_as<tr_sched_switch>(bytes));
}

void RecordDecoder::on_sched_wakeup(const tr_record_header&, Bytes bytes) {
    ++probes_[TR_PROBE_sched_wakeup].hits;
    schedule_.on_wakeup(read_as<tr_sched_wakeup>(bytes));
}

void RecordDecoder::on_task_new(const tr_record_header& header, Bytes bytes) {
    ++probes_[TR_PROBE_task].hits;
    const auto record = read_as<tr_task>(bytes);
    if (header.tid == 0) return;
    Task& child = tasks_.on_new(record);
    take_ns_ids(child, bytes);
    Task* const parent = tasks_.find(record.parent_tid);
    if (parent == nullptr || parent == &child || !parent->is_wanted) return;
    const model::ThreadIndex thread = tasks_.named(*parent);
    const model::ThreadIndex child_index = tasks_.named(child);
    output_.write(
        {header.time_ns,
         model::Life{.kind = model::LifeKind::fork, .thread = thread, .child = child_index},
         header.cpu});
}

void RecordDecoder::on_task_exec(const tr_record_header& header, Bytes bytes) {
    ++probes_[TR_PROBE_task].hits;
    const auto record = read_as<tr_task_exec>(bytes);
    if (header.tid == 0) return;
    // The frames of the old program are gone, and so are all threads but this one.
    Task& before = tasks_.find_or_add(header.tgid, header.tid);
    close_tracks(*before.process, header.time_ns);
    for (Task* thread : before.process->threads) {
        const bool goes_on = thread == &before;
        close_thread(*thread, header.time_ns,
                     goes_on ? model::SpanEndCause::unwound : model::SpanEndCause::thread_exit);
        if (!goes_on) schedule_.forget(*thread);
    }
    keyed_.close_process(*before.process, header.time_ns, model::SpanEndCause::unwound);
    Task& task = tasks_.on_exec(record);
    if (!task.is_wanted) return;
    const auto* const end = std::find(std::begin(record.path), std::end(record.path), '\0');
    const std::string_view path(record.path, static_cast<size_t>(end - record.path));
    const model::ThreadIndex thread = tasks_.named(task);
    output_.write({header.time_ns,
                   model::Life{.kind = model::LifeKind::exec, .thread = thread, .path = path},
                   header.cpu});
}

void RecordDecoder::on_task_exit(const tr_record_header& header, Bytes bytes) {
    ++probes_[TR_PROBE_task].hits;
    const auto record = read_as<tr_task>(bytes);
    if (header.tid == 0) return;
    Task& task = tasks_.on_exit(record);
    close_thread(task, header.time_ns, model::SpanEndCause::thread_exit);
    if ((record.task_flags & TR_TASK_GROUP_DEAD) != 0) {
        close_tracks(*task.process, header.time_ns);
        keyed_.close_process(*task.process, header.time_ns, model::SpanEndCause::process_exit);
    }
    if (!task.is_wanted) return;
    const model::ThreadIndex thread = tasks_.named(task);
    output_.write(
        {header.time_ns,
         model::Life{
             .kind = model::LifeKind::exit, .thread = thread, .exit_code = exit_code_of(record)},
         header.cpu});
}

void RecordDecoder::on_task_rename(const tr_record_header& header, Bytes bytes) {
    ++probes_[TR_PROBE_task].hits;
    if (header.tid != 0) tasks_.on_rename(read_as<tr_task>(bytes));
}

void RecordDecoder::on_task_info(const tr_record_header& header, Bytes bytes) {
    ++probes_[TR_PROBE_task].hits;
    if (header.tid == 0) return;
    take_ns_ids(tasks_.on_info(read_as<tr_task>(bytes)), bytes);
}

void RecordDecoder::take_ns_ids(Task& task, Bytes bytes) {
    if (bytes.size() < sizeof(tr_task_ids)) return;
    const auto record = read_as<tr_task_ids>(bytes);
    tasks_.set_ns_ids(task, record.ns_tgid, record.ns_tid);
}

// A process that is recorded no more may go on for long: what is open ends here.
void RecordDecoder::on_task_select(const tr_record_header& header, Bytes bytes) {
    ++probes_[TR_PROBE_task].hits;
    if (header.tid == 0) return;
    const Task& leader = tasks_.on_select(read_as<tr_task>(bytes));
    if (leader.process->is_wanted) return;
    for (Task* thread : leader.process->threads) {
        close_thread(*thread, header.time_ns, model::SpanEndCause::recording_end);
        schedule_.leave(*thread, header.time_ns);
    }
    Process& process = *leader.process;
    for (const auto& [id, fiber] : process.fibers) {
        close_thread(*fiber, header.time_ns, model::SpanEndCause::recording_end);
    }
    for (const auto& [name, line] : process.lines) {
        spans_.close(*line, header.time_ns, model::SpanEndCause::recording_end);
    }
}

void RecordDecoder::on_gap_begin(const tr_record_header& header, Bytes) {
    break_at_gap(header);
    if (header.cpu >= gaps_.size()) gaps_.resize(header.cpu + size_t{1});
    gaps_[header.cpu] = {true, header.time_ns};
}

// What began inside the gap may have ended inside it too, so it is broken once more.
void RecordDecoder::on_gap_end(const tr_record_header& header, Bytes bytes) {
    const auto record = read_as<tr_gap>(bytes);
    break_at_gap(header);
    uint64_t begin_ns = record.begin_ns;
    if (header.cpu < gaps_.size() && gaps_[header.cpu].is_open) {
        begin_ns = gaps_[header.cpu].begin_ns;
        gaps_[header.cpu] = {};
    }
    if (begin_ns == 0 || begin_ns > header.time_ns) begin_ns = header.time_ns;
    const bool is_output = (header.flags & TR_GAP_OUTPUT) != 0;
    counters_.lost_events += record.count;
    output_.write(
        {header.time_ns,
         model::Loss{is_output ? model::LossCause::sink_full : model::LossCause::ring_full,
                     header.cpu, begin_ns, record.count},
         is_output ? model::kNoCpu : header.cpu});
}

// A lost return could belong to any open span of any thread, for threads move between CPUs.
void RecordDecoder::break_at_gap(const tr_record_header& header) {
    ledger_.note_loss();
    const bool is_output = (header.flags & TR_GAP_OUTPUT) != 0;
    if (is_output) {
        spans_.close_all(header.time_ns, model::SpanEndCause::lost_events);
    } else {
        spans_.close_all_but_rings(header.time_ns, model::SpanEndCause::lost_events);
    }
    keyed_.close_all(header.time_ns, model::SpanEndCause::lost_events);
    if (is_output) {
        schedule_.break_all(header.time_ns);
    } else {
        schedule_.break_cpu(header.cpu, header.time_ns);
    }
}

void RecordDecoder::on_clock(const tr_record_header& header, Bytes bytes) {
    const auto record = read_as<tr_clock>(bytes);
    output_.write({header.time_ns, model::ClockReading{record.monotonic_ns, record.realtime_ns}});
}

void RecordDecoder::finish(uint64_t now_ns) {
    const uint64_t end_ns = std::max(now_ns, last_ns_);
    spans_.close_all(end_ns, model::SpanEndCause::recording_end);
    keyed_.close_all(end_ns, model::SpanEndCause::recording_end);
    tasks_.for_each([&](Task& task) { schedule_.forget(task); });
    output_.finish(end_ns);
}

uint64_t RecordDecoder::hits(uint32_t probe_id) const {
    return probe_id < probes_.size() ? probes_[probe_id].hits : 0;
}

void RecordDecoder::on_forget(Task& task) {
    close_thread(task, last_ns_, model::SpanEndCause::thread_exit);
    if (task.process->threads.size() == 1) {
        close_tracks(*task.process, last_ns_);
    }
    schedule_.forget(task);
    // The last thread of a process whose end was not seen. A thread other than the leader may just
    // be the first that was heard of.
    const auto& threads = task.process->threads;
    const bool is_last = std::ranges::all_of(
        threads, [&](const Task* other) { return other == &task || other->has_exited; });
    if (is_last && (task.has_exited || task.tid == task.process->pid)) {
        keyed_.close_process(*task.process, last_ns_, model::SpanEndCause::process_exit);
    }
}

void RecordDecoder::on_hole(uint64_t begin_ns) {
    ledger_.note_loss();
    spans_.owe_all(begin_ns);
    keyed_.owe_all(begin_ns);
    schedule_.owe_all();
}

}  // namespace tracer
