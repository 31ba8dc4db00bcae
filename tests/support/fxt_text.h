// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/fxt_reader.h"

#include <cstddef>
#include <span>
#include <string>

namespace tracer::test {

// The record as one stable line without a newline: for goldens and for people.
[[nodiscard]] std::string to_text(const FxtFile& file, const FxtRecord& record);

// All records, then the problems, then what is open or cut.
[[nodiscard]] std::string to_text(const FxtFile& file);

// The same with each record's words in hexadecimal below it. `bytes` is what `file` was read from.
[[nodiscard]] std::string to_text_with_words(const FxtFile& file, std::span<const std::byte> bytes);

// The faults that occurred, a line each with its name and how often.
[[nodiscard]] std::string counts_text(const FxtCounts& counts);

}  // namespace tracer::test
