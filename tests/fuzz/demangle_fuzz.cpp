// SPDX-License-Identifier: Apache-2.0
//
// Any text as a symbol: names stay within their bounds, whatever the languages make of it.
#include "symbol/demangle.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string symbol(data, data + size);
    for (const bool is_haskell : {false, true}) {
        const auto name = tracer::demangle(symbol, {.is_haskell = is_haskell});
        if (!name) continue;
        if (name->bare.empty() || name->full.size() < name->bare.size()) std::abort();
        constexpr auto kMax = tracer::kDemangledBytesMax + tracer::kMangledBytesMax;
        if (name->full.size() > kMax) std::abort();
    }
    return 0;
}
