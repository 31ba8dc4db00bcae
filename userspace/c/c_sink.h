// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/c/sink.h"
#include "tracer/write/sinks.h"

#include <memory>
#include <utility>

// What tracer/c/sink.h declares.
struct tracer_sink {
    explicit tracer_sink(std::unique_ptr<tracer::ByteSink> made) : sink(std::move(made)) {}

    std::unique_ptr<tracer::ByteSink> sink;
    const tracer::MemorySink* memory = nullptr;  // the same, where it is one
};
