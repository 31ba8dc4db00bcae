// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/c/sink.h"

#include <new>
#include <type_traits>

namespace tracer::c_api {

// Fills `out`, unless it is nullptr, with texts cut to fit. Always false, so that a call can return
// with it.
bool tell(tracer_error* out, const Error& error);

// True, or tell() and false.
inline bool tell(tracer_error* out, const Status& status) {
    return status ? true : tell(out, status.error());
}

// Nothing that C++ throws may reach a caller in C: all there is to throw is that memory is out.
template <typename Call>
auto guarded(tracer_error* error, const Call& call) -> decltype(call()) {
    try {
        return call();
    } catch (const std::bad_alloc&) {
        tell(error, Error{ErrorCode::limit, 0, "out of memory", {}});
        return {};
    }
}

}  // namespace tracer::c_api
