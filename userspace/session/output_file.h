// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/write/byte_sink.h"
#include "tracer/write/formats.h"
#include "tracer/write/rotating_sink.h"
#include "tracer/write/sinks.h"

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tracer {

// Where a recording goes and in which format.
struct OutputTarget {
    std::string path;                // "-": standard output
    const Format* format = nullptr;  // none: a raw capture
    [[nodiscard]] std::string_view format_name() const;
};

inline constexpr std::string_view kCaptureFormatName = "traw";
inline constexpr std::string_view kCaptureSuffix = ".traw";

// From -o and --format (empty: not given). The format follows --format, else the suffix, else fxt
// for "-"; a path without a known suffix is a usage error. An empty path is left empty.
[[nodiscard]] Result<OutputTarget> choose_output(const std::string& path,
                                                 const std::string& format_name);

// "tracer-NAME-PID-20260101-101500.fxt" in the current folder, or the same with "-2", "-3", ...
// before the suffix if there is one already. pid 0: none in the name.
[[nodiscard]] std::string default_output_path(std::string_view name,
                                              uint32_t pid,
                                              std::string_view suffix,
                                              time_t now);

// The user behind sudo, if this is root started by sudo.
[[nodiscard]] std::optional<FileOwner> owner_behind_sudo();

// Removes the file of an output that came to nothing; a device or a named pipe stays.
void remove_output(const std::string& path);

// Opens the file (0600, given to the user behind sudo) or standard output. Refuses a terminal but
// for lines of text (Format::is_text): other traces are binary, or one long line. `real_time`: as
// FileSinkOptions has it.
[[nodiscard]] Result<std::unique_ptr<ByteSink>> open_output_sink(const std::string& path,
                                                                 bool real_time,
                                                                 bool is_text = false);

// Standard output for what a person reads as it comes: little is kept for a slow reader, so that
// what follows a loss is not long ago.
[[nodiscard]] Result<std::unique_ptr<ByteSink>> open_shown_sink(bool real_time);

// How an output is spread over several files (rotating_sink.h): when the next begins, and how much
// is kept.
struct Rotation {
    ChunkLimits limits;
    uint64_t keep_files = 0;
    uint64_t keep_bytes = 0;
    ChunkCompression compression = ChunkCompression::none;
    [[nodiscard]] bool is_on() const { return limits.chunk_bytes != 0 || limits.chunk_age_ns != 0; }
};

// Opens the first of the files that are named after the path, as above.
[[nodiscard]] Result<std::unique_ptr<RotatingSink>> open_rotating_output_sink(
    const std::string& path, const Rotation& rotation, bool real_time);

// Opens what a running recording is told to write to: "unix:PATH", "tcp:HOST:PORT", or as above.
// Connecting may last (socket_sink.h).
[[nodiscard]] Result<std::unique_ptr<ByteSink>> open_sink(const std::string& target,
                                                          bool real_time);
[[nodiscard]] bool is_socket_target(std::string_view target);

}  // namespace tracer
