// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/write/byte_sink.h"
#include "write/fxt/fxt_words.h"

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tracer::fxt {

// One record on its way into the sink: reserved whole, filled in order, committed whole, so that a
// full sink never leaves part of one. Made once a record, on the stack.
class Record {
public:
    // Check `has_room` before anything else; without room nothing is written or committed.
    Record(ByteSink& sink, size_t words)
        : sink_(sink),
          bytes_(words * kWordBytes),
          begin_(sink.reserve(bytes_).data()),
          next_(begin_) {
        assert(words <= kRecordWordsMax);
    }
    ~Record() = default;
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;

    [[nodiscard]] bool has_room() const { return next_ != nullptr; }

    void word(uint64_t value) {
        std::memcpy(next_, &value, kWordBytes);
        next_ += kWordBytes;
    }

    // The bytes, then zeros up to the next whole word.
    void text(std::string_view bytes) {
        const size_t padded = words_of(bytes.size()) * kWordBytes;
        if (padded == 0) return;
        std::memset(next_ + padded - kWordBytes, 0, kWordBytes);
        std::memcpy(next_, bytes.data(), bytes.size());
        next_ += padded;
    }

    void commit() {
        TR_CHECK(next_ == begin_ + bytes_);
        sink_.commit(bytes_);
    }

private:
    ByteSink& sink_;
    size_t bytes_;
    std::byte* begin_;
    std::byte* next_;
};

}  // namespace tracer::fxt
