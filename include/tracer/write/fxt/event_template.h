// SPDX-License-Identifier: Apache-2.0
//
// Events whose words are known but for the time and the values. Everything else is checked and
// computed once:
//
//     const fxt::ArgumentShape arguments[] = {{bytes, fxt::ArgumentType::uint32},
//                                             {fd, fxt::ArgumentType::int32}};
//     auto read = fxt::EventTemplate::make(trace, fxt::EventType::instant, thread, category, name,
//                                          arguments);
//     read->write(now_ns(), uint32_t{512}, int32_t{3});
//
// One event is then a comparison, a store a word and no call, until the stream's window is full.
#pragma once

#include "tracer/write/fxt/stream.h"

#include <array>
#include <cassert>
#include <concepts>
#include <cstdint>
#include <span>

#include <tl/expected.hpp>

namespace tracer::fxt {

struct ArgumentShape {
    StringRef name;  // interned, or in a slot of the caller's
    // Any but blob. Strings are given by index, so that they have one size.
    ArgumentType type = ArgumentType::null;
};

// A value of a template: a number, or a string that has an index.
template <typename T>
concept TemplateValue = NumberValue<T> || std::same_as<T, StringRef>;

constexpr Number to_number(const StringRef& value) {
    return {ArgumentType::string, argument_payload_string(value.index_bits())};
}

// Number and types of a list of arguments in one word: four bits each, 15 of them at most.
constexpr uint64_t signature_of(std::span<const ArgumentType> types) {
    uint64_t signature = types.size();
    for (size_t i = 0; i < types.size(); ++i) {
        signature |= static_cast<uint64_t>(types[i]) << (4 + 4 * i);
    }
    return signature;
}
template <TemplateValue... Values>
constexpr uint64_t signature_of() {
    const std::array<ArgumentType, sizeof...(Values)> types{to_number(Values{}).type...};
    return signature_of(types);
}

// The header words of an event and its arguments, all but the event's type and thread. A value.
class EventShape {
public:
    EventShape() = default;  // no arguments, no names

    // Names must be interned or in slots of the caller's: Fault::needs_index.
    [[nodiscard]] static tl::expected<EventShape, Fault> make(
        const StringRef& category, const StringRef& name, std::span<const ArgumentShape> arguments);

    [[nodiscard]] size_t count() const { return signature_ & kArgumentsMax; }
    [[nodiscard]] uint64_t signature() const { return signature_; }
    [[nodiscard]] ArgumentType type(size_t argument) const {
        return static_cast<ArgumentType>(signature_ >> (4 + 4 * argument) & 0xf);
    }
    // Of an event without last word.
    [[nodiscard]] size_t words() const { return words_; }
    [[nodiscard]] uint64_t event_header(EventType type, uint8_t thread_slot) const {
        return event_header_of_point(words_ + trailing_words(type), count(), names_) |
               event_type_and_thread(type, thread_slot);
    }
    [[nodiscard]] uint64_t argument_header(size_t argument) const { return headers_[argument]; }

private:
    uint64_t signature_ = 0;
    uint64_t names_ = 0;
    size_t words_ = kEventWords;
    std::array<uint64_t, kArgumentsMax> headers_{};
};

// Borrows the stream. Stays good when the stream begins a chunk or changes its sink.
class EventTemplate {
public:
    // The thread gets a slot for the life of the stream (Stream::pinned_thread), unless it has one
    // of the caller's.
    [[nodiscard]] static tl::expected<EventTemplate, Fault> make(
        Stream& stream,
        EventType type,
        const ThreadRef& thread,
        const StringRef& category,
        const StringRef& name,
        std::span<const ArgumentShape> arguments = {});

    // For the types of events without a last word. Values of another number or type than the
    // template's are a bug of the caller's: asserted, and a broken trace without assertions.
    template <TemplateValue... Values>
    Outcome write(uint64_t time, Values... values) {
        assert(trailing_words(type_) == 0);
        assert(check(signature_of<Values...>()) == Fault::none);
        constexpr size_t words = kWordsOf<Values...>;
        if (!stream_->window_.has_room(words)) [[unlikely]]
            return checked_write(time, 0, numbers(values...));
        stream_->window_.commit(fill(stream_->window_.next(), time, values...));
        return {};
    }
    // For the others: the counter's or operation's id, or the end of a complete duration.
    template <TemplateValue... Values>
    Outcome write_with(uint64_t time, uint64_t last_word, Values... values) {
        assert(trailing_words(type_) == 1);
        assert(type_ != EventType::duration_complete || time <= last_word);
        assert(check(signature_of<Values...>()) == Fault::none);
        constexpr size_t words = kWordsOf<Values...> + 1;
        if (!stream_->window_.has_room(words)) [[unlikely]]
            return checked_write(time, last_word, numbers(values...));
        uint64_t* next = fill(stream_->window_.next(), time, values...);
        *next++ = last_word;
        stream_->window_.commit(next);
        return {};
    }

    // The same, checked in every build: wrong_count, wrong_type, needs_index, end_before_start.
    template <TemplateValue... Values>
    Outcome checked_write(uint64_t time, Values... values) {
        Fault fault = check(signature_of<Values...>());
        ((fault = fault == Fault::none ? check_value(values) : fault), ...);
        if (trailing_words(type_) != 0) fault = Fault::wrong_count;
        if (fault != Fault::none) [[unlikely]]
            return stream_->refuse(fault);
        return write(time, values...);
    }
    template <TemplateValue... Values>
    Outcome checked_write_with(uint64_t time, uint64_t last_word, Values... values) {
        Fault fault = check(signature_of<Values...>());
        ((fault = fault == Fault::none ? check_value(values) : fault), ...);
        if (trailing_words(type_) == 0) fault = Fault::wrong_count;
        if (type_ == EventType::duration_complete && last_word < time) {
            fault = Fault::end_before_start;
        }
        if (fault != Fault::none) [[unlikely]]
            return stream_->refuse(fault);
        return write_with(time, last_word, values...);
    }
    // The same for values that are put together at run time. `last_word` is left out of the types
    // that have none.
    Outcome checked_write(uint64_t time, uint64_t last_word, std::span<const Number> values);

    [[nodiscard]] EventType type() const { return type_; }
    [[nodiscard]] const EventShape& shape() const { return shape_; }

private:
    EventTemplate(Stream& stream, EventType type, uint8_t slot, const EventShape& shape)
        : stream_(&stream), type_(type), header_(shape.event_header(type, slot)), shape_(shape) {}

    template <TemplateValue... Values>
    static constexpr size_t kWordsOf = kEventWords + (size_t{0} + ... +
                                                      (1 + value_words(to_number(Values{}).type)));

    template <TemplateValue... Values>
    static std::array<Number, sizeof...(Values)> numbers(Values... values) {
        return {to_number(values)...};
    }
    template <TemplateValue... Values>
    uint64_t* fill(uint64_t* next, uint64_t time, Values... values) const {
        *next++ = header_;
        *next++ = time;
        size_t i = 0;
        ((next = put_number<to_number(Values{}).type>(next, shape_.argument_header(i++),
                                                      to_number(values).bits)),
         ...);
        return next;
    }

    [[nodiscard]] Fault check(uint64_t signature) const {
        if (signature == shape_.signature()) return Fault::none;
        return (signature & kArgumentsMax) == shape_.count() ? Fault::wrong_type
                                                             : Fault::wrong_count;
    }
    template <NumberValue T>
    [[nodiscard]] Fault check_value(T /*value*/) const {
        return Fault::none;
    }
    [[nodiscard]] Fault check_value(const StringRef& value) const {
        return value.is_inline() ? Fault::needs_index : stream_->strings_.use(value);
    }

    Stream* stream_;
    EventType type_;
    uint64_t header_;
    EventShape shape_;
};

}  // namespace tracer::fxt
