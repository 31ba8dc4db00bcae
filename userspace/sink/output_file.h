// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/unique_fd.h"
#include "tracer/write/sinks.h"

#include <optional>
#include <string>

namespace tracer {

struct OutputFile {
    UniqueFd fd;
    bool is_ours = false;  // a new regular file of ours: may be preallocated and cut
    std::string path;      // of a file of ours: where it really is, behind any link
};

// The folder of `path`, "." for a bare name.
[[nodiscard]] std::string folder_of(const std::string& path);

// Opens `path` for a recording. A new file is 0600 and given to `owner`. An existing regular file
// is replaced, not written into: whoever has it open keeps the old bytes, and its old mode and
// links do not matter. Anything else that takes bytes (a pipe, a terminal, /dev/null) is opened
// as it is; a named pipe needs its reader first. A symbolic link is followed only if root, this
// user or `owner` made it, so that nobody else can point a privileged recorder at a file of their
// choice.
[[nodiscard]] Result<OutputFile> open_output_file(const std::string& path,
                                                  const std::optional<FileOwner>& owner);

// Makes a file that was not there: 0600, given to `owner`, through no link at all. Whatever stands
// at `path` is an error (EEXIST) and left as it is.
[[nodiscard]] Result<OutputFile> make_output_file(const std::string& path,
                                                  const std::optional<FileOwner>& owner);

}  // namespace tracer
