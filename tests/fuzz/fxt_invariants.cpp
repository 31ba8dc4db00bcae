// SPDX-License-Identifier: Apache-2.0
//
// The promises of the Fuchsia trace reader that need no knowledge of the bytes. Called by both of
// its fuzzers.
#include "fuzz/fxt_invariants.h"

#include "support/fxt_text.h"
#include "tracer/base/result.h"

#include <algorithm>

namespace tracer::test {

void check_fxt_invariants(std::span<const std::byte> bytes, size_t piece) {
    // Small ones, so that inputs reach them.
    const FxtLimits limits{.record_bytes_max = 32768, .table_bytes_max = 4096, .providers_max = 4};
    const FxtFile file = parse_fxt(bytes, limits);
    // The records stand one behind the other, and with the tail they are the whole file.
    uint64_t end = 0;
    for (const FxtRecord& record : file.records) {
        TR_CHECK(record.offset == end && record.words > 0);
        end += record.words * 8;
    }
    TR_CHECK(end + file.truncated_tail_bytes + file.counts.unreadable_bytes == bytes.size());
    // What is wrong is said, and what is said was counted.
    uint64_t faults = 0;
    for (const uint64_t count : file.counts.faults) faults += count;
    TR_CHECK(file.problem_count >= faults);
    // Pieces give the same.
    FxtCollector collector(limits);
    for (size_t at = 0; at < bytes.size(); at += piece) {
        collector.feed(bytes.subspan(at, std::min(piece, bytes.size() - at)));
    }
    const FxtFile pieced = collector.finish();
    TR_CHECK(to_text(pieced) == to_text(file));
    TR_CHECK(counts_text(pieced.counts) == counts_text(file.counts));
}

}  // namespace tracer::test
