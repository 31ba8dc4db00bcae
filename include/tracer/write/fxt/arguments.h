// SPDX-License-Identifier: Apache-2.0
//
// The arguments of one record: arg("bytes", uint32_t{7}). The C++ type of the value chooses the
// type in the trace when the program is compiled:
//
//   nullptr            null              bool            bool
//   int8..int32_t      int32             uint8..uint32   uint32
//   int64_t            int64             uint64_t        uint64
//   float, double      double            const char*, string_view, StringRef   string
//   Pointer, void*     pointer           Koid            kernel object id
//   Bytes              blob (Perfetto shows "unknown")
//
// Perfetto takes names for paths: "gc.gen" is a field `gen` of an object `gc`, "a[0]" an element,
// and a name that is both a leaf and a branch makes its details query fail. Best without dots and
// brackets.
#pragma once

#include "tracer/write/fxt/record.h"
#include "tracer/write/fxt/refs.h"
#include "tracer/write/fxt/words.h"

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace tracer::fxt {

struct Koid {
    uint64_t value = 0;
};
struct Pointer {
    uint64_t value = 0;
};
using Bytes = std::span<const std::byte>;

// A number as a record holds it: in the upper half of the argument's header or, where
// value_words(type) is 1, in a word of its own.
struct Number {
    ArgumentType type = ArgumentType::null;
    uint64_t bits = 0;  // 32-bit types and bool: the payload, already in its place in the header
};

constexpr Number to_number(std::nullptr_t) {
    return {};
}
constexpr Number to_number(bool value) {
    return {ArgumentType::boolean, argument_payload_bool(value)};
}
constexpr Number to_number(Koid value) {
    return {ArgumentType::koid, value.value};
}
constexpr Number to_number(Pointer value) {
    return {ArgumentType::pointer, value.value};
}
constexpr Number to_number(double value) {
    return {ArgumentType::float64, std::bit_cast<uint64_t>(value)};
}
template <std::integral T>
constexpr Number to_number(T value) {
    constexpr bool is_signed = std::is_signed_v<T>;
    if constexpr (sizeof(T) <= 4) {
        const auto bits = is_signed ? static_cast<uint32_t>(static_cast<int32_t>(value))
                                    : static_cast<uint32_t>(value);
        return {is_signed ? ArgumentType::int32 : ArgumentType::uint32, argument_payload_32(bits)};
    } else {
        return {is_signed ? ArgumentType::int64 : ArgumentType::uint64,
                static_cast<uint64_t>(value)};
    }
}

// Writes an argument's header and its number, each in its place; where the next goes.
template <ArgumentType type>
inline uint64_t* put_number(uint64_t* next, uint64_t header, uint64_t bits) {
    if constexpr (value_words(type) == 0) {
        *next++ = header | bits;
    } else {
        *next++ = header;
        *next++ = bits;
    }
    return next;
}

// Types of values that are one number. Characters are not: text is what is meant.
template <typename T>
concept NumberValue = std::same_as<T, bool> || std::same_as<T, std::nullptr_t> ||
    std::same_as<T, Koid> || std::same_as<T, Pointer> || std::same_as<T, float> ||
    std::same_as<T, double> ||
    (std::integral<T> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
     !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>);

template <NumberValue T>
inline constexpr ArgumentType kTypeOf = to_number(T{}).type;

// One argument of a record. Borrows its texts and bytes until the record is written.
class Argument {
public:
    constexpr Argument(const StringRef& name, Number value) : name_(name), number_(value) {}
    constexpr Argument(const StringRef& name, const StringRef& value)
        : name_(name), number_{ArgumentType::string, 0}, text_(value) {}
    Argument(const StringRef& name, Bytes value)
        : name_(name),
          number_{ArgumentType::blob, 0},
          // Bytes of a record, by address and size like text; never read as text.
          text_(std::string_view(static_cast<const char*>(static_cast<const void*>(value.data())),
                                 value.size())) {}

    // The same argument. Copied as a whole, one that is only needed where something is amiss would
    // have to be in memory always.
    [[nodiscard]] constexpr Argument copied() const {
        Argument copy(name_.copied(), number_);
        copy.text_ = text_.copied();
        return copy;
    }

    [[nodiscard]] constexpr ArgumentType type() const { return number_.type; }
    [[nodiscard]] constexpr const StringRef& name() const { return name_; }
    [[nodiscard]] constexpr const StringRef& text() const { return text_; }  // of type string
    constexpr void set_name(const StringRef& name) { name_ = name; }
    constexpr void set_text(const StringRef& text) { text_ = text; }

    [[nodiscard]] constexpr const Number& number() const { return number_; }

    // `text` is empty but for strings and blobs.
    [[nodiscard]] constexpr size_t words() const {
        return 1 + name_.words() + value_words(type()) + text_.words();
    }
    void write(Record& record) const;

private:
    StringRef name_;
    Number number_;
    StringRef text_;  // of strings; the bytes of blobs
};

// An argument whose type the compiler knows; what arg() returns.
template <ArgumentType known_type>
class TypedArgument : public Argument {
public:
    using Argument::Argument;
    static constexpr ArgumentType kType = known_type;

    // Writes one whose name, and text if it is a string, have an index; where the next goes.
    [[nodiscard]] uint64_t* put(uint64_t* next) const {
        constexpr size_t words = 1 + value_words(known_type);
        const uint64_t header = argument_header(known_type, words, name().index_bits());
        if constexpr (known_type == ArgumentType::string) {
            return put_number<known_type>(next, header,
                                          argument_payload_string(text().index_bits()));
        } else {
            return put_number<known_type>(next, header, number().bits);
        }
    }
};

template <NumberValue T>
[[nodiscard]] constexpr TypedArgument<kTypeOf<T>> arg(const StringRef& name, T value) {
    return {name, to_number(value)};
}
[[nodiscard]] inline TypedArgument<ArgumentType::pointer> arg(const StringRef& name,
                                                              const volatile void* value) {
    return {name, Number{ArgumentType::pointer, std::bit_cast<uintptr_t>(value)}};
}
[[nodiscard]] constexpr TypedArgument<ArgumentType::string> arg(const StringRef& name,
                                                                const StringRef& value) {
    return {name, value};
}
// Beside the one above, so that a literal is text and not a pointer, and a string needs no cast.
[[nodiscard]] constexpr TypedArgument<ArgumentType::string> arg(const StringRef& name,
                                                                const char* value) {
    return {name, StringRef(value)};
}
template <std::convertible_to<std::string_view> T>
requires(!NumberValue<T>)
    [[nodiscard]] constexpr TypedArgument<ArgumentType::string> arg(const StringRef& name,
                                                                    const T& value) {
    return {name, StringRef(std::string_view(value))};
}
[[nodiscard]] inline TypedArgument<ArgumentType::blob> arg(const StringRef& name, Bytes value) {
    return {name, value};
}

// Arguments put together at run time. On the stack; allocates nothing.
class ArgumentList {
public:
    // False: there are 15 already, and nothing was added.
    [[nodiscard]] bool add(const Argument& argument) {
        if (count_ == kArgumentsMax) return false;
        slots_[count_++].argument = argument;
        return true;
    }
    // For lists whose length the program bounds: a sixteenth is a bug.
    void push(const Argument& argument) { TR_CHECK(add(argument)); }
    [[nodiscard]] size_t size() const { return count_; }
    [[nodiscard]] bool is_full() const { return count_ == kArgumentsMax; }

    [[nodiscard]] std::span<const Argument> view() const { return {&slots_[0].argument, count_}; }
    [[nodiscard]] std::span<Argument> view() { return {&slots_[0].argument, count_}; }
    // NOLINTNEXTLINE(google-explicit-constructor): a list is what a span of arguments is made of.
    operator std::span<const Argument>() const { return view(); }

private:
    // Fifteen arguments must cost nothing until they are added.
    union Slot {
        // NOLINTNEXTLINE(*-member-init,*-equals-default): nothing is set, not even to zero.
        Slot() {}
        char nothing;
        Argument argument;
    };

    static_assert(sizeof(Slot) == sizeof(Argument), "the arguments follow one another");

    size_t count_ = 0;
    Slot slots_[kArgumentsMax];
};

}  // namespace tracer::fxt
