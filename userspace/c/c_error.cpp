// SPDX-License-Identifier: Apache-2.0
//
// Errors as C callers get them: in a struct of theirs. Used by every call of the C interface that
// can fail for reasons outside the program.
#include "c/c_error.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace tracer::c_api {
namespace {

void copy_cut(std::span<char> to, std::string_view from) {
    const size_t count = std::min(from.size(), to.size() - 1);
    std::copy_n(from.data(), count, to.data());
    to[count] = '\0';
}

}  // namespace

bool tell(tracer_error* out, const Error& error) {
    if (out == nullptr) return false;
    out->sys_errno = error.sys_errno;
    copy_cut(out->what, error.what);
    copy_cut(out->hint, error.hint);
    return false;
}

}  // namespace tracer::c_api
