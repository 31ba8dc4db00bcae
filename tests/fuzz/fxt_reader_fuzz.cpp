// SPDX-License-Identifier: Apache-2.0
//
// Any bytes through the Fuchsia trace reader: it may find problems, never crash or read past the
// end. The text of what it found is made too, as every field is touched there.
#include "support/fxt_text.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto file = tracer::test::parse_fxt(std::as_bytes(std::span(data, size)));
    // The records stand one behind the other, in the file.
    uint64_t end = 0;
    for (const auto& record : file.records) {
        if (record.offset < end) std::abort();
        end = record.offset + uint64_t{record.words} * 8;
    }
    if (end + file.truncated_tail_bytes > size) std::abort();
    static_cast<void>(to_text(file));
    return 0;
}
