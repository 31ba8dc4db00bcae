// SPDX-License-Identifier: Apache-2.0
//
// A Fuchsia trace written record by record to memory, and its words.
#pragma once

#include "tracer/write/byte_sink.h"
#include "tracer/write/fxt/stream.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tracer::fxt {

// Memory that gives more than it is asked for, as a file's buffer does, or exactly that; and that
// can be full.
class TestSink final : public ByteSink {
public:
    explicit TestSink(size_t window_bytes = 4096) : room_(window_bytes / 8 + 8192) {
        offered_bytes_ = window_bytes;
    }
    std::span<std::byte> reserve(size_t bytes) override {
        if (is_full) return {};
        // Left over from before, so that a word that a record forgets is seen.
        std::fill(room_.begin(), room_.end(), 0xa5a5a5a5a5a5a5a5);
        return std::as_writable_bytes(std::span(room_)).first(std::max(bytes, offered_bytes_));
    }
    void commit(size_t bytes) override {
        ASSERT_EQ(bytes % 8, 0U);
        words.insert(words.end(), room_.begin(),
                     room_.begin() + static_cast<std::ptrdiff_t>(bytes / 8));
        commits += 1;
    }
    void flush() override { flushes += 1; }
    [[nodiscard]] Status close() override { return {}; }
    [[nodiscard]] Status health() const override { return {}; }
    [[nodiscard]] unsigned long long bytes_committed() const override { return words.size() * 8; }

    std::vector<uint64_t> words;
    size_t commits = 0;
    size_t flushes = 0;
    bool is_full = false;

private:
    std::vector<uint64_t> room_;
    size_t offered_bytes_ = 0;
};

using Words = std::vector<uint64_t>;

// An open trace whose header is out of the way.
struct OpenStream {
    explicit OpenStream(StreamOptions options = {}) : stream(sink, with_name(options)) {
        EXPECT_TRUE(stream.open().has_value());
        static_cast<void>(taken());
    }
    static StreamOptions with_name(StreamOptions options) {
        if (options.provider_name.empty()) options.provider_name = "tracer";
        return options;
    }
    // The words written since the last call.
    [[nodiscard]] Words taken() {
        stream.flush();
        return std::exchange(sink.words, {});
    }

    TestSink sink;
    Stream stream;
};

}  // namespace tracer::fxt
