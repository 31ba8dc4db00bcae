// SPDX-License-Identifier: Apache-2.0
//
// The rare half of the producer's side: another buffer, the counts, the end. reserve() never waits
// for the destination: without a free buffer there is no room, and the caller counts what it could
// not write. Relies on io_queue.cpp for the thread; used by the file, rotating and socket sinks.
#include "sink/io_producer.h"

#include <chrono>
#include <utility>

namespace tracer {

IoProducer::~IoProducer() {
    if (queue_->is_copy()) {
        queue_->abandon();
        static_cast<void>(queue_.release());
        return;
    }
    push_partial();
}

bool IoProducer::next_buffer() {
    if (is_closed_ || queue_->has_failed()) return false;
    // The full one is handed over even when no other is free, or it would wait for nothing.
    push_partial();
    TR_CHECK(buffer_ == nullptr);  // an empty one has room for any record
    buffer_ = queue_->acquire();
    if (buffer_ == nullptr) return false;
    buffer_->chunk_start_ns = std::exchange(chunk_start_ns_, std::nullopt);
    next_ = counted_ = buffer_->memory.get();
    end_ = next_ + buffer_->size;
    next_mark_ = next_ + IoBuffer::kMarkBytes;
    return true;
}

// The end of a record at which the file may be cut, and the moment to bring the public count up to
// date: neither is worth its price at every record.
void IoProducer::mark() {
    TR_CHECK(next_ <= end_);
    buffer_->marks.push_back(static_cast<uint32_t>(next_ - buffer_->memory.get()));
    next_mark_ = next_ + IoBuffer::kMarkBytes;
    count();
}

void IoProducer::count() {
    // One producer, so nothing is lost between the load and the store.
    committed_.store(
        committed_.load(std::memory_order_relaxed) + static_cast<size_t>(next_ - counted_),
        std::memory_order_relaxed);
    counted_ = next_;
}

void IoProducer::push_partial() {
    if (buffer_ == nullptr || next_ == buffer_->memory.get()) return;
    count();
    buffer_->used = static_cast<size_t>(next_ - buffer_->memory.get());
    next_ = end_ = next_mark_ = counted_ = nullptr;
    queue_->push(std::move(buffer_));
}

void IoProducer::begin_chunk() {
    push_partial();
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    chunk_start_ns_ = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    // An empty buffer at hand was given its place before the chunk began.
    if (buffer_ != nullptr) buffer_->chunk_start_ns = std::exchange(chunk_start_ns_, std::nullopt);
}

Status IoProducer::close() {
    TR_CHECK(!is_closed_);
    is_closed_ = true;
    if (queue_->is_copy()) return {};
    push_partial();
    return queue_->close();
}

}  // namespace tracer
