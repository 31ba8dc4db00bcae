// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/write/byte_sink.h"

#include <memory>

namespace tracer {

// Waits in reserve() until the sink behind it has room again or fails for good. For conversions,
// where the input can wait; a recording's rings cannot.
class PatientSink : public ByteSink {
public:
    explicit PatientSink(std::unique_ptr<ByteSink> sink) : sink_(std::move(sink)) {}

    [[nodiscard]] std::span<std::byte> reserve(size_t bytes) override;
    void commit(size_t bytes) override { sink_->commit(bytes); }
    void flush() override { sink_->flush(); }
    [[nodiscard]] Status close() override { return sink_->close(); }
    [[nodiscard]] Status health() const override { return sink_->health(); }
    [[nodiscard]] unsigned long long bytes_committed() const override {
        return sink_->bytes_committed();
    }
    [[nodiscard]] unsigned long long bytes_written() const override {
        return sink_->bytes_written();
    }

private:
    std::unique_ptr<ByteSink> sink_;
};

}  // namespace tracer
