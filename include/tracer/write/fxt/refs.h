// SPDX-License-Identifier: Apache-2.0
//
// How a record names a string or a thread: by its place in a table of the stream, or in full.
// Values, cheap to copy. Those with an index come from the stream that knows it (Stream::intern,
// string_slot, cached, thread, thread_slot) and are good for that stream alone.
#pragma once

#include "tracer/write/fxt/words.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace tracer::fxt {

class StringRef {
public:
    constexpr StringRef() = default;  // the empty string

    // Text that the record itself carries: borrowed until the call that writes it returns. UTF-8
    // is what readers expect; it is not looked at.
    // NOLINTNEXTLINE(google-explicit-constructor): a literal is a name.
    constexpr StringRef(std::string_view text)
        : text_(text.data()),
          packed_(text.empty() ? 0 : uint64_t{std::min(text.size(), kSizeMax)} << 32 | kInline) {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr StringRef(const char* text) : StringRef(std::string_view(text)) {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    StringRef(const std::string& text) : StringRef(std::string_view(text)) {}

    // An index of the table: checked when it is used. `generation` is how the cache tells a
    // string from the one that had its index before; 0: whatever stands there.
    [[nodiscard]] static constexpr StringRef at(uint32_t index, uint32_t generation = 0) {
        StringRef ref;
        ref.packed_ = uint64_t{generation} << 32 | std::min(index, kInline - 1);
        return ref;
    }

    // The same reference, part by part (see Argument::copied).
    [[nodiscard]] constexpr StringRef copied() const {
        StringRef copy;
        copy.text_ = text_;
        copy.packed_ = packed_;
        return copy;
    }

    [[nodiscard]] constexpr bool is_inline() const { return index() == kInline; }
    // 0: the empty string. Of inline text one that is in no table.
    [[nodiscard]] constexpr uint32_t index() const { return static_cast<uint32_t>(packed_); }
    [[nodiscard]] constexpr uint32_t generation() const { return is_inline() ? 0 : high_half(); }
    // Of inline text, else empty.
    [[nodiscard]] constexpr std::string_view text() const {
        return is_inline() ? std::string_view(text_, high_half()) : std::string_view();
    }

    // The 16 bits in the record. Text must be within kStringBytesMax, an index in range.
    [[nodiscard]] constexpr uint16_t bits() const {
        if (!is_inline()) return static_cast<uint16_t>(index());
        return inline_ref(high_half());
    }
    // The same of one that is known to have an index.
    [[nodiscard]] constexpr uint16_t index_bits() const { return static_cast<uint16_t>(packed_); }
    // Words of text that the record carries.
    [[nodiscard]] constexpr size_t words() const { return is_inline() ? words_of(high_half()) : 0; }

private:
    static constexpr uint32_t kInline = std::numeric_limits<uint32_t>::max();
    static constexpr size_t kSizeMax = std::numeric_limits<uint32_t>::max();

    [[nodiscard]] constexpr uint32_t high_half() const {
        return static_cast<uint32_t>(packed_ >> 32);
    }

    const char* text_ = nullptr;
    // The index, and above it the size of the text or the generation of the index: one word, which
    // compilers keep in a register.
    uint64_t packed_ = 0;
};

// A thread as the format knows it: two kernel object ids. On Linux the pid and the tid.
struct ThreadIds {
    uint64_t process = 0;
    uint64_t thread = 0;
    bool operator==(const ThreadIds&) const = default;
};

class ThreadRef {
public:
    // In full, in each record that has it: two words more than a slot.
    // NOLINTNEXTLINE(google-explicit-constructor): ids are a thread.
    constexpr ThreadRef(const ThreadIds& ids) : ids_(ids) {}
    constexpr ThreadRef(uint64_t process, uint64_t thread) : ids_{process, thread} {}

    // A slot of the table, 1..255, checked when it is used. With a generation the table knows
    // when the slot was given to another thread, and finds this one a new slot by its ids.
    [[nodiscard]] static constexpr ThreadRef at(uint8_t slot,
                                                const ThreadIds& ids = {},
                                                uint32_t generation = 0) {
        ThreadRef ref(ids);
        ref.slot_ = slot;
        ref.generation_ = generation;
        return ref;
    }

    [[nodiscard]] constexpr const ThreadIds& ids() const { return ids_; }
    [[nodiscard]] constexpr uint8_t slot() const { return slot_; }  // 0: in full
    [[nodiscard]] constexpr uint32_t generation() const { return generation_; }

private:
    ThreadIds ids_;
    uint32_t generation_ = 0;
    uint8_t slot_ = 0;
};

}  // namespace tracer::fxt
