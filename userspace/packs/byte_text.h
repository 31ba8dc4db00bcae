// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tracer {

// Bytes as text, still owned by whoever owns them. Characters may alias any object, so this is well
// defined.
[[nodiscard]] inline std::string_view text_of(std::span<const std::byte> bytes) {
    return {static_cast<const char*>(static_cast<const void*>(bytes.data())), bytes.size()};
}

}  // namespace tracer
