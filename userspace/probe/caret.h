// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tracer {

// A usage error about one token of a probe's text: the message, the text on a line of its own, and
// a line of carets under the token.
[[nodiscard]] tl::unexpected<Error> fail_at(std::string_view text,
                                            size_t offset,
                                            size_t length,
                                            std::string_view message,
                                            std::string hint = {});

// What an error of fail_at says, for those who show the text in surroundings of their own.
struct CaretPlace {
    std::string message;  // its first line
    size_t offset = 0;    // of the token in the whole text
    size_t length = 0;
};

// `text`: the whole one; the error may show a part of it. nullopt: it points at nothing there.
[[nodiscard]] std::optional<CaretPlace> find_caret(const Error& error, std::string_view text);

}  // namespace tracer
