// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/write/byte_sink.h"

#include <cstddef>
#include <span>
#include <vector>

namespace tracer::test {

// A ByteSink into a vector that refuses on request and checks its user's side of the contract.
class ByteVectorSink : public ByteSink {
public:
    [[nodiscard]] std::span<std::byte> reserve(size_t bytes) override;
    void commit(size_t bytes) override;
    void flush() override {}
    [[nodiscard]] Status close() override { return {}; }
    [[nodiscard]] Status health() const override { return {}; }
    [[nodiscard]] unsigned long long bytes_committed() const override { return bytes_.size(); }

    [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
    [[nodiscard]] size_t commits() const { return commits_; }
    void refuse(bool is_full) { is_full_ = is_full; }

private:
    std::vector<std::byte> bytes_;
    std::vector<std::byte> reserved_;
    size_t commits_ = 0;
    bool is_full_ = false;
};

}  // namespace tracer::test
