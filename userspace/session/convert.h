// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/recording.h"
#include "tracer/base/result.h"
#include "tracer/write/byte_sink.h"
#include "tracer/write/formats.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tracer {

struct ConvertOptions {
    std::string input_path;
    // After each block: bytes read of all (0: unknown); empty: nobody asks.
    std::function<void(uint64_t bytes_done, uint64_t bytes_total)> on_progress;
};

// Gives a raw capture its meaning in `format`, over a sink that it closes. Unlike a recording it
// waits for the sink. What can be read of a cut or malformed capture is written in any case;
// malformed input is then the result's `output` error. A capture without definitions, or none at
// all, is an error at once.
[[nodiscard]] Result<RecordingResult> convert_capture(const ConvertOptions& options,
                                                      const Format& format,
                                                      std::unique_ptr<ByteSink> sink);

}  // namespace tracer
