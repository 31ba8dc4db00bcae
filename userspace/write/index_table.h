// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tracer {

// What is kept for each thread or point that was defined, by the index that the decoder gave it.
// Pointers are good until the next put().
template <typename Index, typename T>
class IndexTable {
public:
    // Null: there is none.
    [[nodiscard]] T* find(Index index) {
        const auto number = static_cast<uint32_t>(index);
        return number < entries_.size() && entries_[number] ? &*entries_[number] : nullptr;
    }
    [[nodiscard]] const T* find(Index index) const {
        const auto number = static_cast<uint32_t>(index);
        return number < entries_.size() && entries_[number] ? &*entries_[number] : nullptr;
    }
    // The one there is, or a new one. Null: beyond kIndexMax, which no decoder gives.
    [[nodiscard]] T* put(Index index) {
        const auto number = static_cast<uint32_t>(index);
        if (number >= kIndexMax) return nullptr;
        if (number >= entries_.size()) entries_.resize(number + 1);
        if (!entries_[number]) entries_[number].emplace();
        return &*entries_[number];
    }
    // By index; empty where there is none.
    [[nodiscard]] std::span<std::optional<T>> entries() { return entries_; }

    static constexpr uint32_t kIndexMax = 1U << 24;

private:
    std::vector<std::optional<T>> entries_;
};

}  // namespace tracer
