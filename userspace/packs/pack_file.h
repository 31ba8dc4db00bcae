// SPDX-License-Identifier: Apache-2.0
//
// The reader of pack files. README.md has the format.
#pragma once

#include "packs/pack.h"
#include "tracer/base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

inline constexpr size_t kPackFileBytesMax = 256 * 1024;

// One thing to be said about a pack's text. `error.what` is "ORIGIN:LINE:COLUMN: what", the line of
// the file, and a line with carets under the token; `error.hint` the cure, if known.
struct PackProblem {
    bool is_warning = false;  // the pack works; advice to its author
    uint32_t line = 0;        // from 1
    uint32_t column = 0;      // in characters, from 1
    Error error;
};

struct PackCheck {
    std::optional<Pack> pack;           // if no problem is more than a warning
    std::vector<PackProblem> problems;  // all of them, in the order of the text
};

// `origin`: where the text comes from, for messages. When it ends in ".toml" the file's name must
// be the pack's.
[[nodiscard]] PackCheck check_pack(std::string_view toml, std::string_view origin);

// The same for those who only want the pack: fails with the first problem that is no warning.
[[nodiscard]] Result<Pack> parse_pack(std::string_view toml, std::string_view origin);

// A complete pack with comments, for authors to begin with. `name`: as is_pack_name takes it.
[[nodiscard]] std::string pack_template(std::string_view name);

// Small letters, digits and hyphens; a letter first; at most 32.
[[nodiscard]] bool is_pack_name(std::string_view name);

}  // namespace tracer
