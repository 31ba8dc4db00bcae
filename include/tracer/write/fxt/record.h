// SPDX-License-Identifier: Apache-2.0
//
// One record being filled, word by word.
#pragma once

#include "tracer/base/result.h"
#include "tracer/write/fxt/refs.h"
#include "tracer/write/fxt/window.h"
#include "tracer/write/fxt/words.h"

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tracer::fxt {

// Reserved whole, filled in order, committed whole, so that a full sink never leaves part of one.
// Made once a record, on the stack; not committed, it never was.
class Record {
public:
    // Check `has_room` before anything else; without room nothing is written or committed.
    Record(SinkWindow& window, size_t words)
        : window_(window), begin_(window.reserve(words)), next_(begin_), words_(words) {}
    ~Record() = default;
    Record(const Record&) = delete;
    Record& operator=(const Record&) = delete;

    [[nodiscard]] bool has_room() const { return next_ != nullptr; }

    void word(uint64_t value) { *next_++ = value; }

    // The bytes, then zeros up to the next whole word.
    void bytes(const void* data, size_t count) {
        if (count == 0) return;
        const size_t words = words_of(count);
        next_[words - 1] = 0;
        std::memcpy(next_, data, count);
        next_ += words;
    }
    void text(std::string_view text) { bytes(text.data(), text.size()); }
    // What a reference makes the record carry: nothing, for an index.
    void text_of(const StringRef& ref) {
        if (ref.words() != 0) [[unlikely]]
            text(ref.text());
    }

    // The number of words filled must be what was reserved.
    void commit() {
        TR_CHECK(next_ == begin_ + words_);
        window_.commit(next_);
    }

private:
    SinkWindow& window_;
    uint64_t* begin_;
    uint64_t* next_;
    size_t words_;
};

}  // namespace tracer::fxt
