// SPDX-License-Identifier: Apache-2.0
//
// The raw capture (.traw): records as the kernel made them, in merged order, with what is needed to
// understand them anywhere. A file is a header and blocks, each {u32 type, u32 bytes, payload
// padded to 8 with zeros}; `bytes` leaves the padding out. A cut tail loses only what was cut.
//
//   file header   8 bytes magic "TRACRAW\0", u16 abi major, u16 abi minor, u32 0
//   definitions   JSON, a part of RecordingDefinitions; again whenever probes are added
//   records       whole abi/event.h records back to back
//   counters      JSON, a part of CaptureCounters, at the end of the recording
//
// No block's payload is larger than kCaptureBlockBytesMax, so that a writer needs one reservation a
// block and a reader one buffer. Longer JSON is spread over blocks of one type: each is an object
// with some of the elements, and those before the last say {"more": true}.
//
//   definitions   {"clock": "boottime", "record_all": b, "follow_children": b, "own_pid": n,
//                  "host_name": s, "command_line": s,               first block of a file only
//                  "process_pid": n, "process_parent_pid": n, "cpu_count": n,      the same; may be
//                  missing (0), as in captures of earlier versions
//                  "arguments": [s...],
//                  "pids": [n...], "tids": [n...],
//                  "points": [{"index": n, "kind": s, "category": s, "name": s,
//                              "arguments": [[name, type]...], "end_arguments": [...]}...],
//                  "probes": [{"id": n, "role": s, "point": n, "slots": [type...],
//                              "f32_slots": n, "spec": s,
//                              "key": s}...]}        of pairs that have one; else missing
//   counters      {"probes": [{"id": n, <each of TR_PROBE_COUNTERS>: n}...],
//                  "rings": [{"attempts": n, "lost": n}...]}
//
// Keys that this version does not know are skipped (a newer minor version wrote them); an array
// that is not there is empty; a known key with a value of the wrong type, and a missing one that
// is no array, refuse the file.
#pragma once

#include "capture/probe_definition.h"
#include "capture/record_handler.h"
#include "capture/stale_bytes.h"
#include "tracer/abi/stats.h"
#include "tracer/base/result.h"
#include "tracer/write/byte_sink.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tracer {

inline constexpr char kCaptureMagic[8] = {'T', 'R', 'A', 'C', 'R', 'A', 'W', '\0'};

enum class CaptureBlock : uint32_t { definitions = 1, records = 2, counters = 3 };

inline constexpr size_t kCaptureBlockBytesMax = 48 * 1024;

// What the kernel side counted, for the summary of a capture read elsewhere.
struct CaptureCounters {
    struct Probe {
        uint32_t probe_id = 0;
        tr_probe_counters counts{};
    };
    struct Ring {
        uint64_t attempts = 0;
        uint64_t lost = 0;
    };
    std::vector<Probe> probes;
    std::vector<Ring> rings;  // rings[i]: of CPU i; the last: the task ring
};

// Writes a capture into a sink, which it borrows. Order of calls: open, then the rest in any order,
// close. When the sink has no room, a block of records is dropped as a whole, counted, and told to
// readers by a pair of gap records (TR_GAP_OUTPUT) as soon as there is room again.
class CaptureWriter : public RecordHandler {
public:
    explicit CaptureWriter(ByteSink& sink);

    [[nodiscard]] Status open(const RecordingDefinitions& definitions);

    // Of probes armed later. Ids and indices go on from those already written.
    [[nodiscard]] Status add(const std::vector<model::Point>& points,
                             const std::vector<ProbeDefinition>& probes);

    void on_record(std::span<const std::byte> record) override;

    // Ends the block under way, so that all records so far are in the sink.
    void flush();

    [[nodiscard]] Status write_counters(const CaptureCounters& counters);

    // Flushes. Does not close the sink. An error if records at the end found no room (there is no
    // later block that could tell of them).
    [[nodiscard]] Status close();

    [[nodiscard]] uint64_t records_written() const { return records_written_; }
    [[nodiscard]] uint64_t records_lost() const { return records_lost_; }

private:
    [[nodiscard]] bool write_block(CaptureBlock type, std::span<const std::byte> payload);
    [[nodiscard]] Status write_json(CaptureBlock type, const std::vector<std::string>& parts);
    void append_output_gap(uint64_t end_ns);

    ByteSink& sink_;
    StaleBytes stale_;
    std::vector<std::byte> block_;  // records of the block under way
    uint64_t block_records_ = 0;
    uint64_t newest_ns_ = 0;       // of the records taken so far
    uint64_t block_first_ns_ = 0;  // of the block under way
    uint64_t gap_begin_ns_ = 0;    // time of the last record written before the hole
    uint64_t gap_records_ = 0;     // dropped since; 0: no hole to tell of
    uint64_t written_newest_ns_ = 0;
    uint64_t records_written_ = 0;
    uint64_t records_lost_ = 0;
};

// Who takes what a capture holds, in file order.
class CaptureVisitor : public RecordHandler {
public:
    // First call: everything known at the start, before any record. Later calls: the points and
    // probes added, indices going on from those before.
    virtual Status on_definitions(RecordingDefinitions definitions) = 0;
    virtual Status on_counters(const CaptureCounters& counters) = 0;
    // After each block. bytes_total is 0 when the input cannot tell its length.
    virtual void on_progress(uint64_t bytes_done, uint64_t bytes_total) = 0;
};

struct CaptureSummary {
    uint16_t abi_minor = 0;
    uint64_t records = 0;
    uint64_t unknown_blocks = 0;  // of a newer minor version: skipped
    bool has_definitions = false;
    bool has_counters = false;  // false: the recorder did not come to its end
    bool is_cut = false;        // the file ends within a block
    uint64_t bytes_cut = 0;     // at the end, that made no whole record or block
};

// Read a capture from its beginning to its end in bounded memory. Everything is checked; what was
// delivered before a fault stays delivered. A cut tail is no fault: it is in the summary.
[[nodiscard]] Result<CaptureSummary> read_capture(const std::string& path, CaptureVisitor& visitor);
[[nodiscard]] Result<CaptureSummary> read_capture(int fd, CaptureVisitor& visitor);
[[nodiscard]] Result<CaptureSummary> read_capture(std::span<const std::byte> bytes,
                                                  CaptureVisitor& visitor);

}  // namespace tracer
