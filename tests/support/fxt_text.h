// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/fxt_reader.h"

#include <string>

namespace tracer::test {

// The record as one stable line without a newline: for goldens and for people.
[[nodiscard]] std::string to_text(const FxtFile& file, const FxtRecord& record);

// All records, then the problems, then what is open or cut.
[[nodiscard]] std::string to_text(const FxtFile& file);

}  // namespace tracer::test
