// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"

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

}  // namespace tracer
