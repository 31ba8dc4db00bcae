// SPDX-License-Identifier: Apache-2.0
//
// The bytes of the eventlog: big-endian on every machine, no padding.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tracer::eventlog {

template <std::unsigned_integral T>
constexpr T swapped_if_little(T value) {
    if constexpr (std::endian::native == std::endian::big || sizeof(T) == 1) {
        return value;
    } else if constexpr (sizeof(T) == 2) {
        return __builtin_bswap16(value);
    } else if constexpr (sizeof(T) == 4) {
        return __builtin_bswap32(value);
    } else {
        return __builtin_bswap64(value);
    }
}

// Stores at `at`, where there is room, and returns the byte after.
template <std::unsigned_integral T>
std::byte* store_big(std::byte* at, T value) {
    const T swapped = swapped_if_little(value);
    std::memcpy(at, &swapped, sizeof(T));
    return at + sizeof(T);
}

template <typename T>
requires std::is_enum_v<T> std::byte* store_big(std::byte* at, T value) {
    return store_big(at, static_cast<std::make_unsigned_t<std::underlying_type_t<T>>>(value));
}

template <std::unsigned_integral T>
T load_big(const std::byte* at) {
    T value{};
    std::memcpy(&value, at, sizeof(T));
    return swapped_if_little(value);
}

}  // namespace tracer::eventlog
