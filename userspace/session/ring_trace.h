// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/record_handler.h"
#include "session/recording.h"
#include "session/ring_recording.h"
#include "tracer/base/result.h"
#include "tracer/ring/cursor.h"
#include "tracer/write/byte_sink.h"
#include "tracer/write/formats.h"

#include <memory>
#include <string>

namespace tracer {

// What a decoder needs to know of a file of rings.
[[nodiscard]] RecordingDefinitions ring_definitions(const RingRecording& recording);

// Hands all events over as records, by time; how many.
uint64_t write_ring_records(const RingRecording& recording,
                            ring::Cursor& cursor,
                            RecordHandler& handler);

struct RingConvertOptions {
    std::string input_path;
};

// A file of rings made a trace, over a sink that it closes.
[[nodiscard]] Result<RecordingResult> convert_rings(const RingConvertOptions& options,
                                                    ring::Cursor& cursor,
                                                    const Format& format,
                                                    std::unique_ptr<ByteSink> sink);

}  // namespace tracer
