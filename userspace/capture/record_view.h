// SPDX-License-Identifier: Apache-2.0
//
// One record and what its header says, read and checked once for all that handle it.
#pragma once

#include "tracer/abi/event.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tracer {

// In memory that its source owns.
struct RecordView {
    const std::byte* data;
    uint64_t time_ns;
    uint32_t seq;
    uint16_t size;  // header and body; 0: the header's size cannot be
    uint16_t kind;

    [[nodiscard]] std::span<const std::byte> bytes() const { return {data, size}; }
};

// `bytes` is what the source vouches for, at least sizeof(tr_record_header); the header's own size
// is untrusted.
inline RecordView view_record(const std::byte* data, size_t bytes) {
    const auto load = [data](auto& out, size_t offset) {
        std::memcpy(&out, data + offset, sizeof(out));
    };
    RecordView view{.data = data, .time_ns = 0, .seq = 0, .size = 0, .kind = 0};
    load(view.time_ns, offsetof(tr_record_header, time_ns));
    load(view.seq, offsetof(tr_record_header, seq));
    load(view.size, offsetof(tr_record_header, size));
    load(view.kind, offsetof(tr_record_header, kind));
    if (view.size < sizeof(tr_record_header) || view.size % 8 != 0 || view.size > bytes ||
        view.size > TR_RECORD_BYTES_MAX) [[unlikely]] {
        view.size = 0;
    }
    return view;
}

}  // namespace tracer
