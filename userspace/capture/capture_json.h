// SPDX-License-Identifier: Apache-2.0
//
// The JSON payloads of a capture's blocks: see capture_file.h for their shape.
#pragma once

#include "capture/capture_file.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace tracer {

// Text of one or more blocks, each at most kCaptureBlockBytesMax. Names that are not UTF-8 get
// replacement characters. A single element that fits no block is a `limit` error.
[[nodiscard]] Result<std::vector<std::string>> definitions_to_json(
    const RecordingDefinitions& definitions, bool is_first);
[[nodiscard]] Result<std::vector<std::string>> counters_to_json(const CaptureCounters& counters);

// Collects the definitions blocks of one capture and checks that they fit together: indices in
// order, ids unique, slots matching their points.
class DefinitionsParser {
public:
    // The text of one block. True: this was the last of a group, take() has the result.
    [[nodiscard]] Result<bool> parse(std::string_view text);
    [[nodiscard]] RecordingDefinitions take();

private:
    struct PointShape {
        size_t values;
        size_t end_values;
        model::PointKind kind;
    };

    [[nodiscard]] Status check_probe(const ProbeDefinition& probe) const;

    RecordingDefinitions part_;
    bool is_first_ = true;
    std::vector<PointShape> points_;  // of all groups so far
    std::unordered_set<uint32_t> probe_ids_;
};

class CountersParser {
public:
    [[nodiscard]] Result<bool> parse(std::string_view text);
    [[nodiscard]] const CaptureCounters& counters() const { return counters_; }

private:
    CaptureCounters counters_;
};

}  // namespace tracer
