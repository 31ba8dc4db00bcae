// SPDX-License-Identifier: Apache-2.0
//
// Numbers in texts. Relies on fmt for the shortest decimal of a double. Called by the eventlog
// writer and by the decoder, which renders names.
#include "write/value_text.h"

#include <iterator>

#include <fmt/format.h>

namespace tracer {

void append_number(std::string& out, const model::Value& value) {
    const auto end = std::back_inserter(out);
    switch (value.type) {
        case model::ValueType::none:
        case model::ValueType::string:
            out += '?';
            return;
        case model::ValueType::s32:
        case model::ValueType::s64:
            fmt::format_to(end, "{}", static_cast<int64_t>(value.bits));
            return;
        case model::ValueType::u32:
        case model::ValueType::u64:
            fmt::format_to(end, "{}", value.bits);
            return;
        case model::ValueType::f64:
            fmt::format_to(end, "{}", value.real);
            return;
        case model::ValueType::boolean:
            out += value.bits != 0 ? "true" : "false";
            return;
        case model::ValueType::pointer:
            fmt::format_to(end, "{:#x}", value.bits);
            return;
    }
}

}  // namespace tracer
