// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

enum class FieldForm : uint8_t {
    integer,  // 1, 2, 4 or 8 bytes
    pointer,  // an address, kernel or user
    boolean,
    char_array,     // text inside the record
    data_location,  // __data_loc char[]: text elsewhere in the record
    other,          // arrays, structures, relative locations: not readable as one value
};

struct TracepointField {
    std::string name;
    std::string type;  // as the kernel spells it, without the name
    uint32_t offset = 0;
    uint32_t bytes = 0;
    bool is_signed = false;
    bool is_common = false;  // common_*: of every tracepoint
    FieldForm form = FieldForm::other;
};

struct TracepointFormat {
    uint32_t id = 0;
    std::string name;
    std::vector<TracepointField> fields;
};

// Parses the text of tracefs events/CATEGORY/NAME/format.
[[nodiscard]] Result<TracepointFormat> parse_tracepoint_format(std::string_view text);

}  // namespace tracer
