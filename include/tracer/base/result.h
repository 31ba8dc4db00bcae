// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace tracer {

// What kind of fault an Error is; decides the exit status (see exit_status).
enum class ErrorCode {
    usage,            // the command line or a probe text is wrong
    permission,       // the user may not do this
    missing_feature,  // this kernel or machine lacks something
    not_found,        // no such process, file, probe or symbol
    bad_input,        // a file or another process's memory is malformed
    io,               // reading or writing failed
    limit,            // a limit of ours or of a format was reached
    interrupted,      // a signal ended it before there was anything to keep
    internal,         // our own bug
};

// An operating problem, on its way up to the user. `what` is one line, without a full stop;
// `hint` is the cure where we know it, else empty. Value type, no ownership beyond its strings.
struct Error {
    ErrorCode code = ErrorCode::internal;
    int sys_errno = 0;  // 0: not from a system call
    std::string what;
    std::string hint;

    // Puts "context: " before `what`; for callers that know more than the callee did.
    [[nodiscard]] Error within(std::string_view context) &&;
};

// Result of an operation that can fail for reasons outside the program. Never ignore one.
template <typename T>
using Result = tl::expected<T, Error>;

using Status = Result<void>;

[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, std::string what, std::string hint = {});

// As fail(), with the text of `sys_errno` appended (": No such file or directory"). Take errno
// before anything else runs.
[[nodiscard]] tl::unexpected<Error> fail_errno(ErrorCode code,
                                               int sys_errno,
                                               std::string what,
                                               std::string hint = {});

// 2 usage, 3 environment (permission, missing feature), 4 target (not found, bad input),
// 5 output (io, limit), 70 internal, 130 interrupted: that of SIGINT; who knows the signal says 128
// and its number.
[[nodiscard]] int exit_status(ErrorCode code);

[[noreturn]] void check_failed(const char* expression, const char* file, int line);

}  // namespace tracer

// Evaluates a Result and returns its error from the calling function.
#define TR_TRY(expression)                                                           \
    do {                                                                             \
        auto tr_try_result = (expression);                                           \
        if (!tr_try_result) return tl::unexpected(std::move(tr_try_result).error()); \
    } while (0)

#define TR_CONCAT_INNER(a, b) a##b
#define TR_CONCAT(a, b) TR_CONCAT_INNER(a, b)

// TR_ASSIGN(auto file, open_file(path)): declares `file` or returns the error.
#define TR_ASSIGN(declaration, expression) \
    TR_ASSIGN_NAMED(TR_CONCAT(tr_assign_, __LINE__), declaration, expression)
#define TR_ASSIGN_NAMED(temporary, declaration, expression)                \
    auto temporary = (expression);                                         \
    if (!(temporary)) return tl::unexpected(std::move(temporary).error()); \
    declaration = std::move(*(temporary))

// A broken invariant of our own: prints where and aborts.
#define TR_CHECK(condition) \
    ((condition) ? static_cast<void>(0) : ::tracer::check_failed(#condition, __FILE__, __LINE__))
