// SPDX-License-Identifier: Apache-2.0
//
// Raw records as the kernel side makes them, for tests of everything behind the rings.
#pragma once

#include "tracer/abi/event.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tracer::test {

using Record = std::vector<std::byte>;

// The part of a header that says when and where.
struct At {
    uint64_t time_ns = 0;
    uint32_t tgid = 0;
    uint32_t tid = 0;
    uint16_t cpu = 0;
    uint32_t seq = 0;
};

[[nodiscard]] Record make_header_only(const At& at, uint16_t kind);
[[nodiscard]] Record make_hit(const At& at,
                              uint32_t probe_id,
                              const std::vector<uint64_t>& slots,
                              uint16_t flags = 0);
// One string argument behind others that are none; `flags` are TR_STRING_*.
[[nodiscard]] Record make_string_hit(const At& at,
                                     uint32_t probe_id,
                                     std::string_view text,
                                     uint32_t flags = 0,
                                     const std::vector<uint64_t>& slots_before = {});
[[nodiscard]] Record make_switch(
    const At& prev, uint32_t next_tgid, uint32_t next_tid, uint32_t prev_state, uint16_t flags = 0);
[[nodiscard]] Record make_wakeup(const At& waker, uint32_t woken_tgid, uint32_t woken_tid);

struct TaskFields {
    std::string_view comm;
    uint32_t parent_tgid = 0;
    uint32_t parent_tid = 0;
    uint64_t start_ns = 0;
    int32_t exit_code = 0;
    uint32_t task_flags = 0;
};
[[nodiscard]] Record make_task(const At& at, uint16_t kind, const TaskFields& fields);
[[nodiscard]] Record make_exec(const At& at, std::string_view comm, std::string_view path);
[[nodiscard]] Record make_gap(uint16_t kind,
                              uint64_t time_ns,
                              uint16_t cpu,
                              uint64_t count,
                              uint64_t begin_ns,
                              uint16_t flags = 0);
[[nodiscard]] Record make_clock(uint64_t time_ns, uint64_t monotonic_ns, uint64_t realtime_ns);

[[nodiscard]] tr_record_header header_of(const Record& record);
// Of the rings that programs write: `tgid` is the process.
Record make_ring_point(uint32_t point, uint16_t kind, uint16_t value, std::string_view name);
Record make_ring_track(
    uint64_t time_ns, uint32_t tgid, uint32_t ring, std::string_view name, uint32_t tid = 0);
Record make_ring_event(uint64_t time_ns,
                       uint32_t ring,
                       uint32_t point,
                       uint16_t role = TR_RING_ROLE_instant,
                       std::optional<int64_t> value = {},
                       std::string_view text = {});
Record make_ring_lost(uint64_t time_ns, uint32_t ring, uint64_t events, uint16_t flags = 0);
void set_header(Record& record, const tr_record_header& header);

// One whole record of each kind there is.
[[nodiscard]] std::vector<Record> make_one_of_each_kind(uint32_t probe_id);

}  // namespace tracer::test
