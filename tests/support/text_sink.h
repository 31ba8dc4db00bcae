// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/write/byte_sink.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tracer::test {

// What formats of text write, as text. Refuses on request.
class TextSink : public ByteSink {
public:
    std::span<std::byte> reserve(size_t bytes) override {
        reserved_.resize(is_full ? 0 : bytes);
        return reserved_;
    }
    void commit(size_t bytes) override {
        text.append(reinterpret_cast<const char*>(reserved_.data()), bytes);
    }
    void flush() override {}
    Status close() override { return {}; }
    Status health() const override { return {}; }
    unsigned long long bytes_committed() const override { return text.size(); }

    std::string text;
    bool is_full = false;

private:
    std::vector<std::byte> reserved_;
};

}  // namespace tracer::test
