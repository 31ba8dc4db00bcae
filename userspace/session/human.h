// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace tracer {

// "1,234,567"
[[nodiscard]] std::string human_count(uint64_t count);
// "512 B", "3.9 MiB"
[[nodiscard]] std::string human_bytes(uint64_t bytes);
// As --buffer takes it: "64K", "16M"; exact for powers of two.
[[nodiscard]] std::string size_option(uint64_t bytes);

// Names of files, functions and threads are the target's to choose: bytes that a terminal takes for
// a command are written out ("\x1b"; "\u009b" as JSON does), in one line newlines too.
[[nodiscard]] std::string printable(std::string_view text, bool is_one_line = true);

// For people, who may have closed their end or filled its disk: what the stream does not take is
// gone, and a recording goes on. (fmt::print throws then.) Printable, lines apart.
void put_text(FILE* stream, std::string_view text);

}  // namespace tracer
