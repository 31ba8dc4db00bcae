// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sink/io_producer.h"
#include "tracer/write/byte_sink.h"

#include <memory>
#include <utility>

namespace tracer {

// A sink that is a queue and a destination and nothing else.
class QueueSink final : public ByteSink {
public:
    QueueSink(std::unique_ptr<IoDestination> destination, const IoQueueOptions& options)
        : producer_(std::move(destination), options) {}

    std::span<std::byte> reserve(size_t bytes) override { return producer_.reserve(bytes); }
    void commit(size_t bytes) override { producer_.commit(bytes); }
    void flush() override { producer_.flush(); }
    size_t change_buffers(size_t bytes) override { return producer_.change_buffers(bytes); }
    Status close() override { return producer_.close(); }
    Status health() const override { return producer_.health(); }
    unsigned long long bytes_committed() const override { return producer_.bytes_committed(); }
    unsigned long long bytes_written() const override { return producer_.bytes_written(); }

private:
    IoProducer producer_;
};

}  // namespace tracer
