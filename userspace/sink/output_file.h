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
};

// Opens `path` for a recording. A new file is 0600 and given to `owner`. An existing regular file
// is replaced, not written into: whoever has it open keeps the old bytes, and its old mode and
// links do not matter. Anything else that takes bytes (a pipe, a terminal, /dev/null) is opened
// as it is; a named pipe needs its reader first. A symbolic link is followed only if root, this
// user or `owner` made it, so that nobody else can point a privileged recorder at a file of their
// choice.
[[nodiscard]] Result<OutputFile> open_output_file(const std::string& path,
                                                  const std::optional<FileOwner>& owner);

}  // namespace tracer
