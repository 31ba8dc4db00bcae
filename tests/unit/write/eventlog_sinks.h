// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/write/byte_sink.h"

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace tracer::eventlog::test {

// What a sink takes, for a test that gives the sink away. The bound can be moved while it writes.
class SharedBytes {
public:
    explicit SharedBytes(size_t bytes_max = SIZE_MAX) : state_(std::make_shared<State>()) {
        state_->bytes_max = bytes_max;
    }

    [[nodiscard]] std::unique_ptr<ByteSink> make_sink() { return std::make_unique<Sink>(state_); }

    [[nodiscard]] std::vector<std::byte> get() const {
        const std::lock_guard lock(state_->mutex);
        return state_->bytes;
    }
    [[nodiscard]] bool is_closed() const {
        const std::lock_guard lock(state_->mutex);
        return state_->is_closed;
    }
    [[nodiscard]] size_t flushes() const {
        const std::lock_guard lock(state_->mutex);
        return state_->flushes;
    }
    void allow(size_t bytes_max) {
        const std::lock_guard lock(state_->mutex);
        state_->bytes_max = bytes_max;
    }

private:
    struct State {
        std::mutex mutex;
        std::vector<std::byte> bytes;
        size_t bytes_max = 0;
        size_t flushes = 0;
        bool is_closed = false;
    };

    // Only reserve and commit, so that long pieces come in 64 KiB at a time.
    class Sink : public ByteSink {
    public:
        explicit Sink(std::shared_ptr<State> state) : state_(std::move(state)) {}

        [[nodiscard]] std::span<std::byte> reserve(size_t bytes) override {
            const std::lock_guard lock(state_->mutex);
            TR_CHECK(bytes <= kReserveBytesMax && !state_->is_closed);
            if (state_->bytes.size() + bytes > state_->bytes_max) return {};
            reserved_.resize(bytes);
            return reserved_;
        }
        void commit(size_t bytes) override {
            const std::lock_guard lock(state_->mutex);
            TR_CHECK(bytes <= reserved_.size());
            state_->bytes.insert(state_->bytes.end(), reserved_.begin(),
                                 reserved_.begin() + static_cast<ptrdiff_t>(bytes));
        }
        void flush() override {
            const std::lock_guard lock(state_->mutex);
            state_->flushes += 1;
        }
        [[nodiscard]] Status close() override {
            const std::lock_guard lock(state_->mutex);
            state_->is_closed = true;
            return {};
        }
        [[nodiscard]] Status health() const override { return {}; }
        [[nodiscard]] unsigned long long bytes_committed() const override {
            const std::lock_guard lock(state_->mutex);
            return state_->bytes.size();
        }

    private:
        std::shared_ptr<State> state_;
        std::vector<std::byte> reserved_;
    };

    std::shared_ptr<State> state_;
};

}  // namespace tracer::eventlog::test
