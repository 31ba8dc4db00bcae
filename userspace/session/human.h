// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "write/human_text.h"  // human_count, human_duration, printable

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace tracer {

// "512 B", "3.9 MiB"
[[nodiscard]] std::string human_bytes(uint64_t bytes);
// As --buffer takes it: "64K", "16M"; exact for powers of two.
[[nodiscard]] std::string size_option(uint64_t bytes);

// For people, who may have closed their end or filled its disk: what the stream does not take is
// gone, and a recording goes on. (fmt::print throws then.) Printable, lines apart.
void put_text(FILE* stream, std::string_view text);

}  // namespace tracer
