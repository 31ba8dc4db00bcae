// SPDX-License-Identifier: Apache-2.0
//
// The raw capture (.traw): records as the kernel made them, in merged order, with what is needed to
// understand them anywhere. A file is a header and blocks, each {u32 type, u32 bytes, payload
// padded to 8}; a cut tail loses only what was cut.
//
//   file header   8 bytes magic "TRACRAW\0", u16 abi major, u16 abi minor, u32 reserved
//   definitions   JSON: RecordingDefinitions; again whenever probes are added
//   records       whole abi/event.h records back to back
//   counters      JSON: the kernel's counters by probe and ring, at the end of the recording
#pragma once

#include "capture/record_handler.h"
#include "tracer/base/result.h"
#include "tracer/write/byte_sink.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tracer {

inline constexpr char kCaptureMagic[8] = {'T', 'R', 'A', 'C', 'R', 'A', 'W', '\0'};

enum class CaptureBlock : uint32_t { definitions = 1, records = 2, counters = 3 };

}  // namespace tracer
