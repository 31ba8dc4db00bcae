// SPDX-License-Identifier: Apache-2.0
//
// A sink that forgets what it is given: what is left when the cost of output is taken away.
// Relies on nothing; used by benchmarks.
#include "tracer/write/sinks.h"

#include <array>
#include <atomic>

namespace tracer {
namespace {

class NullSink final : public ByteSink {
public:
    std::span<std::byte> reserve(size_t bytes) override {
        if (bytes > scratch_.size()) return {};
        return scratch_;
    }
    void commit(size_t bytes) override {
        // One producer, so nothing is lost between the load and the store.
        committed_.store(committed_.load(std::memory_order_relaxed) + bytes,
                         std::memory_order_relaxed);
    }
    void flush() override {}
    Status close() override { return {}; }
    Status health() const override { return {}; }
    unsigned long long bytes_committed() const override {
        return committed_.load(std::memory_order_relaxed);
    }

private:
    alignas(8) std::array<std::byte, kReserveBytesMax> scratch_{};
    std::atomic<unsigned long long> committed_{0};
};

}  // namespace

std::unique_ptr<ByteSink> make_null_sink() {
    return std::make_unique<NullSink>();
}

}  // namespace tracer
