// SPDX-License-Identifier: Apache-2.0
//
// Chunks between a log, which fills them under its own lock, and a program that takes them away
// when it likes. Relies on one write a header or block, which is never split; used by programs that
// embed a log.
#include "tracer/write/eventlog/chunk_queue.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

namespace tracer::eventlog {

class ChunkQueue::State {
public:
    explicit State(const ChunkQueueOptions& options) : options_(options) {}

    bool add(std::span<const std::byte> piece) {
        const std::lock_guard lock(mutex_);
        if (piece.size() > options_.bytes_max - bytes_) return false;
        if (filling_.size() + piece.size() > options_.chunk_bytes) finish_locked();
        if (filling_.empty()) filling_.reserve(std::max(piece.size(), options_.chunk_bytes));
        filling_.insert(filling_.end(), piece.begin(), piece.end());
        bytes_ += piece.size();
        committed_ += piece.size();
        return true;
    }

    bool has_room(size_t bytes) {
        const std::lock_guard lock(mutex_);
        return bytes <= options_.bytes_max - bytes_;
    }

    void finish() {
        const std::lock_guard lock(mutex_);
        finish_locked();
    }

    std::vector<std::byte> pop() {
        const std::lock_guard lock(mutex_);
        if (full_.empty()) return {};
        std::vector<std::byte> chunk = std::move(full_.front());
        full_.pop_front();
        bytes_ -= chunk.size();
        return chunk;
    }

    size_t bytes() {
        const std::lock_guard lock(mutex_);
        return bytes_;
    }

    unsigned long long committed() {
        const std::lock_guard lock(mutex_);
        return committed_;
    }

private:
    void finish_locked() {
        if (filling_.empty()) return;
        full_.push_back(std::move(filling_));
        filling_ = {};
    }

    const ChunkQueueOptions options_;
    std::mutex mutex_;
    std::deque<std::vector<std::byte>> full_;
    std::vector<std::byte> filling_;
    size_t bytes_ = 0;
    unsigned long long committed_ = 0;
};

namespace {

class ChunkSink : public ByteSink {
public:
    explicit ChunkSink(std::shared_ptr<ChunkQueue::State> state) : state_(std::move(state)) {}

    [[nodiscard]] std::span<std::byte> reserve(size_t bytes) override {
        if (bytes > kReserveBytesMax || !state_->has_room(bytes)) return {};
        reserved_.resize(bytes);
        return reserved_;
    }
    void commit(size_t bytes) override {
        // There is one producer, so the room that reserve() saw can only have grown.
        TR_CHECK(bytes <= reserved_.size() && state_->add(std::span(reserved_).first(bytes)));
    }
    [[nodiscard]] size_t write(std::span<const std::byte> bytes) override {
        return state_->add(bytes) ? bytes.size() : 0;
    }
    void flush() override { state_->finish(); }
    [[nodiscard]] Status close() override {
        state_->finish();
        return {};
    }
    [[nodiscard]] Status health() const override { return {}; }
    [[nodiscard]] unsigned long long bytes_committed() const override {
        return state_->committed();
    }

private:
    std::shared_ptr<ChunkQueue::State> state_;
    std::vector<std::byte> reserved_;
};

}  // namespace

ChunkQueue::ChunkQueue(const ChunkQueueOptions& options)
    : state_(std::make_shared<State>(options)) {}

std::unique_ptr<ByteSink> ChunkQueue::make_sink() {
    return std::make_unique<ChunkSink>(state_);
}

std::vector<std::byte> ChunkQueue::pop() {
    return state_->pop();
}

size_t ChunkQueue::bytes() const {
    return state_->bytes();
}

}  // namespace tracer::eventlog
