// SPDX-License-Identifier: Apache-2.0
//
// Between records and the sink: memory for many records got in one reservation, so that one record
// costs a comparison and its stores, no call. Holds whole records only, hands over whole records
// only.
#pragma once

#include "tracer/write/byte_sink.h"
#include "tracer/write/fxt/words.h"

#include <cstddef>
#include <cstdint>

namespace tracer::fxt {

// Borrows the sink. Who has a window open over a sink is its only user until release(); with a
// window of 0 bytes every record is committed at once and the sink may be used between records.
class SinkWindow {
public:
    SinkWindow(ByteSink& sink, size_t window_bytes) : sink_(&sink), window_bytes_(window_bytes) {}
    ~SinkWindow() { release(); }
    SinkWindow(const SinkWindow&) = delete;
    SinkWindow& operator=(const SinkWindow&) = delete;

    // Room for one record of `words` words, at most kReserveBytesMax; nullptr: the sink has none
    // now. Fill it, then commit() with the word after the last one filled.
    [[nodiscard]] uint64_t* reserve(size_t words) {
        if (has_room(words)) [[likely]]
            return next_;
        return refill(words);
    }
    // The two halves of that for callers with a way of their own when there is no room here.
    [[nodiscard]] bool has_room(size_t words) const {
        return words <= static_cast<size_t>(end_ - next_);
    }
    [[nodiscard]] uint64_t* next() { return next_; }
    void commit(uint64_t* end_of_record) {
        next_ = end_of_record;
        if (next_ == end_) [[unlikely]]
            release();
    }

    // Hands what was committed here to the sink and closes the window: the next reserve() opens
    // another one.
    void release();
    // The same, and the next window is of another sink.
    void move_to(ByteSink& sink) {
        release();
        sink_ = &sink;
    }

    // The same, and the next window has another size.
    void resize(size_t window_bytes) {
        release();
        window_bytes_ = window_bytes;
    }

    [[nodiscard]] ByteSink& sink() { return *sink_; }

private:
    uint64_t* refill(size_t words);

    ByteSink* sink_;
    size_t window_bytes_;  // at most so much before the sink sees it
    uint64_t* begin_ = nullptr;
    uint64_t* next_ = nullptr;
    uint64_t* end_ = nullptr;
};

}  // namespace tracer::fxt
