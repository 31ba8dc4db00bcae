// SPDX-License-Identifier: Apache-2.0
//
// Fills the structs of abi/event.h and hands them out as bytes. Used by unit tests and by the
// fuzzers' seeds.
#include "support/record_builder.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace tracer::test {

namespace {

tr_record_header make_header(const At& at, uint16_t kind, size_t size, uint32_t probe_id) {
    return {.size = static_cast<uint16_t>(size),
            .kind = kind,
            .probe_id = probe_id,
            .time_ns = at.time_ns,
            .tgid = at.tgid,
            .tid = at.tid,
            .seq = at.seq,
            .cpu = at.cpu,
            .flags = 0};
}

template <typename T>
Record bytes_of(const T& value) {
    Record record(sizeof(T));
    std::memcpy(record.data(), &value, sizeof(T));
    return record;
}

tr_task fill_task(const At& at, uint16_t kind, size_t size, const TaskFields& fields) {
    tr_task task{.header = make_header(at, kind, size, TR_PROBE_task),
                 .parent_tgid = fields.parent_tgid,
                 .parent_tid = fields.parent_tid,
                 .start_ns = fields.start_ns,
                 .comm = {},
                 .exit_code = fields.exit_code,
                 .task_flags = fields.task_flags};
    std::copy_n(fields.comm.begin(), std::min<size_t>(fields.comm.size(), TR_COMM_BYTES - 1),
                task.comm);
    return task;
}

}  // namespace

Record make_header_only(const At& at, uint16_t kind) {
    return bytes_of(make_header(at, kind, sizeof(tr_record_header), 0));
}

Record make_hit(const At& at,
                uint32_t probe_id,
                const std::vector<uint64_t>& slots,
                uint16_t flags) {
    const size_t size = sizeof(tr_record_header) + slots.size() * sizeof(uint64_t);
    auto header = make_header(at, TR_KIND_hit, size, probe_id);
    header.flags = flags;
    Record record = bytes_of(header);
    record.resize(size);
    if (!slots.empty()) {
        std::memcpy(record.data() + sizeof(header), slots.data(), slots.size() * sizeof(uint64_t));
    }
    return record;
}

Record make_string_hit(const At& at,
                       uint32_t probe_id,
                       std::string_view text,
                       uint32_t flags,
                       const std::vector<uint64_t>& slots_before) {
    const size_t before = slots_before.size() * sizeof(uint64_t);
    const tr_string_slot slot{
        .offset = static_cast<uint16_t>(sizeof(tr_record_header) + before + sizeof(tr_string_slot)),
        .bytes = static_cast<uint16_t>(text.size()),
        .flags = flags};
    const size_t size = (slot.offset + text.size() + 7) / 8 * 8;
    Record record = bytes_of(make_header(at, TR_KIND_hit, size, probe_id));
    record.resize(size);
    std::ranges::copy(std::as_bytes(std::span(slots_before)),
                      record.begin() + sizeof(tr_record_header));
    std::memcpy(record.data() + sizeof(tr_record_header) + before, &slot, sizeof(slot));
    std::copy_n(std::as_bytes(std::span(text)).data(), text.size(), record.data() + slot.offset);
    return record;
}

Record make_switch(
    const At& prev, uint32_t next_tgid, uint32_t next_tid, uint32_t prev_state, uint16_t flags) {
    tr_sched_switch record{
        .header = make_header(prev, TR_KIND_sched_switch, sizeof(record), TR_PROBE_sched_switch),
        .next_tgid = next_tgid,
        .next_tid = next_tid,
        .prev_state = prev_state,
        .prev_prio = 120,
        .next_prio = 120};
    record.header.flags = flags;
    return bytes_of(record);
}

Record make_wakeup(const At& waker, uint32_t woken_tgid, uint32_t woken_tid) {
    return bytes_of(
        tr_sched_wakeup{.header = make_header(waker, TR_KIND_sched_wakeup, sizeof(tr_sched_wakeup),
                                              TR_PROBE_sched_wakeup),
                        .woken_tgid = woken_tgid,
                        .woken_tid = woken_tid,
                        .woken_prio = 120,
                        .woken_cpu = waker.cpu,
                        .flags = 0});
}

Record make_task(const At& at, uint16_t kind, const TaskFields& fields) {
    return bytes_of(fill_task(at, kind, sizeof(tr_task), fields));
}

Record make_exec(const At& at, std::string_view comm, std::string_view path) {
    tr_task_exec record{
        .task = fill_task(at, TR_KIND_task_exec, sizeof(tr_task_exec), {.comm = comm}), .path = {}};
    std::copy_n(path.begin(), std::min<size_t>(path.size(), TR_PATH_BYTES - 1), record.path);
    return bytes_of(record);
}

Record make_gap(uint16_t kind,
                uint64_t time_ns,
                uint16_t cpu,
                uint64_t count,
                uint64_t begin_ns,
                uint16_t flags) {
    tr_gap record{.header = make_header({.time_ns = time_ns, .cpu = cpu}, kind, sizeof(tr_gap), 0),
                  .count = count,
                  .begin_ns = begin_ns};
    record.header.flags = flags;
    return bytes_of(record);
}

Record make_clock(uint64_t time_ns, uint64_t monotonic_ns, uint64_t realtime_ns) {
    return bytes_of(
        tr_clock{.header = make_header({.time_ns = time_ns}, TR_KIND_clock, sizeof(tr_clock), 0),
                 .monotonic_ns = monotonic_ns,
                 .realtime_ns = realtime_ns});
}

Record make_ring_point(uint32_t point, uint16_t kind, uint16_t value, std::string_view name) {
    tr_ring_point record{.header = make_header({}, TR_KIND_ring_point, sizeof(tr_ring_point), 0),
                         .point = point,
                         .kind = kind,
                         .value = value,
                         .category = "gc",
                         .value_name = "bytes"};
    std::copy_n(name.begin(), std::min(name.size(), sizeof(record.name) - 1), record.name);
    return bytes_of(record);
}

Record make_ring_track(
    uint64_t time_ns, uint32_t tgid, uint32_t ring, std::string_view name, uint32_t tid) {
    tr_ring_track record{.header = make_header({.time_ns = time_ns, .tgid = tgid, .tid = tid},
                                               TR_KIND_ring_track, sizeof(tr_ring_track), 0),
                         .producer = 1,
                         .ring = ring};
    std::copy_n(name.begin(), std::min(name.size(), sizeof(record.name) - 1), record.name);
    return bytes_of(record);
}

Record make_ring_event(uint64_t time_ns,
                       uint32_t ring,
                       uint32_t point,
                       uint16_t role,
                       std::optional<int64_t> value,
                       std::string_view text) {
    const size_t size = (sizeof(tr_ring_event) + text.size() + 7) / 8 * 8;
    tr_ring_event record{
        .header = make_header({.time_ns = time_ns}, TR_KIND_ring_event, size, TR_PROBE_ring),
        .producer = 1,
        .ring = ring,
        .point = point,
        .role = role,
        .text_bytes = static_cast<uint16_t>(text.size()),
        .value = value.value_or(0)};
    if (value) record.header.flags = TR_RING_EVENT_VALUE;
    Record bytes = bytes_of(record);
    const auto rest = std::as_bytes(std::span(text));
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    bytes.resize(size);
    return bytes;
}

Record make_ring_lost(uint64_t time_ns, uint32_t ring, uint64_t events, uint16_t flags) {
    tr_ring_lost record{
        .header = make_header({.time_ns = time_ns}, TR_KIND_ring_lost, sizeof(tr_ring_lost), 0),
        .producer = 1,
        .ring = ring,
        .events = events,
        .words = 2 * events};
    record.header.flags = flags;
    return bytes_of(record);
}

tr_record_header header_of(const Record& record) {
    tr_record_header header{};
    std::memcpy(&header, record.data(), sizeof(header));
    return header;
}

void set_header(Record& record, const tr_record_header& header) {
    std::memcpy(record.data(), &header, sizeof(header));
}

std::vector<Record> make_one_of_each_kind(uint32_t probe_id) {
    const At at{.time_ns = 1000, .tgid = 7, .tid = 7};
    const TaskFields fields{.comm = "worker", .parent_tgid = 1, .parent_tid = 1, .start_ns = 900};
    std::vector<Record> records{
        make_header_only(at, TR_KIND_none),
        make_hit(at, probe_id, {1, 2}),
        make_switch(at, 8, 8, 1),
        make_wakeup(at, 8, 8),
        make_task(at, TR_KIND_task_new, fields),
        make_exec(at, "program", "/usr/bin/program"),
        make_task(at, TR_KIND_task_exit, fields),
        make_task(at, TR_KIND_task_rename, fields),
        make_task(at, TR_KIND_task_info, fields),
        make_gap(TR_KIND_gap_begin, 1000, 0, 0, 900),
        make_gap(TR_KIND_gap_end, 1100, 0, 5, 900),
        make_clock(1000, 500, 1'700'000'000'000'000'000),
        make_ring_point(0, TR_RING_POINT_span, TR_RING_VALUE_none, "minor"),
        make_ring_track(1000, 7, 2, "domain 2"),
    };
    return records;
}

}  // namespace tracer::test
