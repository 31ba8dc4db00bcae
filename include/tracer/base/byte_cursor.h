// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

namespace tracer {

// A checked read position over bytes that came from elsewhere (a file, a ring, a socket). Reads
// never go past the end: they return false or nullopt and leave the position alone. Borrows the
// bytes; little-endian hosts only, like every format it is used for.
class ByteCursor {
public:
    explicit ByteCursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

    [[nodiscard]] size_t remaining() const { return bytes_.size() - position_; }
    [[nodiscard]] size_t position() const { return position_; }

    template <typename T>
    requires std::is_trivially_copyable_v<T>
    [[nodiscard]] bool read(T& out) {
        if (remaining() < sizeof(T)) return false;
        std::memcpy(&out, bytes_.data() + position_, sizeof(T));
        position_ += sizeof(T);
        return true;
    }

    template <typename T>
    requires std::is_trivially_copyable_v<T>
    [[nodiscard]] std::optional<T> read() {
        T value{};
        if (!read(value)) return std::nullopt;
        return value;
    }

    // The next `count` bytes, still owned by whoever owns the whole.
    [[nodiscard]] std::optional<std::span<const std::byte>> take(size_t count) {
        if (remaining() < count) return std::nullopt;
        auto part = bytes_.subspan(position_, count);
        position_ += count;
        return part;
    }

    [[nodiscard]] bool skip(size_t count) { return take(count).has_value(); }

private:
    std::span<const std::byte> bytes_;
    size_t position_ = 0;
};

}  // namespace tracer
