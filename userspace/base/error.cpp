// SPDX-License-Identifier: Apache-2.0
//
// Errors on their way up: making them, giving them context, and what each means as an exit status.
// Used by every layer.
#include "tracer/base/result.h"

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace tracer {

Error Error::within(std::string_view context) && {
    what = fmt::format("{}: {}", context, what);
    return std::move(*this);
}

tl::unexpected<Error> fail(ErrorCode code, std::string what, std::string hint) {
    return tl::unexpected(Error{code, 0, std::move(what), std::move(hint)});
}

tl::unexpected<Error> fail_errno(ErrorCode code,
                                 int sys_errno,
                                 std::string what,
                                 std::string hint) {
    auto text = fmt::format(
        "{}: {}", what, strerrordesc_np(sys_errno) ? strerrordesc_np(sys_errno) : "unknown error");
    return tl::unexpected(Error{code, sys_errno, std::move(text), std::move(hint)});
}

int exit_status(ErrorCode code) {
    switch (code) {
        case ErrorCode::usage:
            return 2;
        case ErrorCode::permission:
        case ErrorCode::missing_feature:
            return 3;
        case ErrorCode::not_found:
        case ErrorCode::bad_input:
            return 4;
        case ErrorCode::io:
        case ErrorCode::limit:
            return 5;
        case ErrorCode::interrupted:
            return 130;
        case ErrorCode::internal:
            return 70;
    }
    return 70;
}

void check_failed(const char* expression, const char* file, int line) {
    fmt::print(stderr, "tracer: internal error: {} does not hold ({}:{})\n", expression, file,
               line);
    std::abort();
}

}  // namespace tracer
