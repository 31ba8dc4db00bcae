// SPDX-License-Identifier: Apache-2.0
//
// The layout: time, CPU, the body's index in model::EventBody, then the body's parts in the order
// of the functions below, which both directions share: whoever adds a part to an event adds it
// once. Only ever reads what encode() wrote in the same process, so a fault is ours and ends it.
#include "write/history/event_codec.h"

#include "tracer/base/byte_cursor.h"
#include "tracer/base/result.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tracer::history {
namespace {

using model::Value;

class Counter {
public:
    void bytes(const void*, size_t count) { size_ += count; }
    [[nodiscard]] size_t size() const { return size_; }

private:
    size_t size_ = 0;
};

class Filler {
public:
    explicit Filler(std::span<std::byte> room) : room_(room) {}
    void bytes(const void* from, size_t count) {
        TR_CHECK(count <= room_.size());
        if (count != 0) std::memcpy(room_.data(), from, count);
        room_ = room_.subspan(count);
    }

private:
    std::span<std::byte> room_;
};

// Puts parts into a Counter or a Filler.
template <typename Target>
class Putter {
public:
    explicit Putter(Target& target) : target_(target) {}

    template <typename T>
    void part(const T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        target_.bytes(&value, sizeof(value));
    }
    void part(const std::string_view& text) {
        part(static_cast<uint32_t>(text.size()));
        target_.bytes(text.data(), text.size());
    }
    void part(const std::span<const Value>& values) {
        const size_t count = std::min(values.size(), ExpandedInstant::kArgumentsMax);
        part(static_cast<uint8_t>(count));
        for (const Value& value : values.first(count)) {
            part(value.type);
            part(static_cast<uint8_t>((value.is_cut ? 1 : 0) | (value.is_longer ? 2 : 0)));
            if (value.type == model::ValueType::f64) {
                part(value.real);
            } else {
                part(value.bits);
            }
            if (value.type == model::ValueType::string) part(value.text);
        }
    }

private:
    Target& target_;
};

// Takes them again.
class Taker {
public:
    Taker(ByteCursor& cursor, std::span<Value> room) : cursor_(cursor), room_(room) {}

    template <typename T>
    void part(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        TR_CHECK(cursor_.read(value));
    }
    void part(std::string_view& text) {
        uint32_t size = 0;
        part(size);
        const auto bytes = cursor_.take(size);
        TR_CHECK(bytes.has_value());
        text = {static_cast<const char*>(static_cast<const void*>(bytes->data())), bytes->size()};
    }
    void part(std::span<const Value>& values) {
        uint8_t count = 0;
        part(count);
        TR_CHECK(count <= room_.size());
        for (Value& value : room_.first(count)) {
            uint8_t flags = 0;
            part(value.type);
            part(flags);
            if (value.type == model::ValueType::f64) {
                part(value.real);
            } else {
                part(value.bits);
            }
            value.is_cut = (flags & 1) != 0;
            value.is_longer = (flags & 2) != 0;
            if (value.type == model::ValueType::string) part(value.text);
        }
        values = room_.first(count);
    }

private:
    ByteCursor& cursor_;
    std::span<Value> room_;
};

// The parts of each kind of event; those without texts and values go as they lie.
template <typename Parts, typename Body>
void pass(Parts& parts, Body& body) {
    using Plain = std::remove_const_t<Body>;
    if constexpr (std::is_same_v<Plain, model::Instant> ||
                  std::is_same_v<Plain, model::SpanBegin> ||
                  std::is_same_v<Plain, model::Counter>) {
        parts.part(body.point);
        parts.part(body.thread);
        parts.part(body.values);
        parts.part(body.name);
    } else if constexpr (std::is_same_v<Plain, model::SpanEnd>) {
        parts.part(body.point);
        parts.part(body.thread);
        parts.part(body.cause);
        parts.part(body.values);
    } else if constexpr (std::is_same_v<Plain, model::AsyncBegin>) {
        parts.part(body.point);
        parts.part(body.thread);
        parts.part(body.id);
        parts.part(body.values);
        parts.part(body.name);
    } else if constexpr (std::is_same_v<Plain, model::AsyncEnd>) {
        parts.part(body.point);
        parts.part(body.thread);
        parts.part(body.id);
        parts.part(body.cause);
        parts.part(body.values);
    } else if constexpr (std::is_same_v<Plain, model::Life>) {
        parts.part(body.kind);
        parts.part(body.thread);
        parts.part(body.child);
        parts.part(body.exit_code);
        parts.part(body.path);
    } else {
        static_assert(std::is_same_v<Plain, model::Switch> ||
                      std::is_same_v<Plain, model::Wakeup> || std::is_same_v<Plain, model::Loss> ||
                      std::is_same_v<Plain, model::ClockReading>);
        parts.part(body);
    }
}

template <typename Target>
void put(Target& target, const model::Event& event) {
    Putter<Target> parts(target);
    parts.part(event.time_ns);
    parts.part(event.cpu);
    parts.part(static_cast<uint8_t>(event.body.index()));
    std::visit([&](const auto& body) { pass(parts, body); }, event.body);
}

template <size_t... indices>
void take_body(Taker& parts,
               size_t index,
               model::EventBody& out,
               std::index_sequence<indices...> /*all*/) {
    const auto take_one = [&]<size_t candidate>() {
        if (index != candidate) return false;
        std::variant_alternative_t<candidate, model::EventBody> body{};
        pass(parts, body);
        out = body;
        return true;
    };
    TR_CHECK((take_one.template operator()<indices>() || ...));
}

}  // namespace

size_t encoded_size(const model::Event& event) {
    Counter counter;
    put(counter, event);
    return counter.size();
}

void encode(const model::Event& event, std::span<std::byte> room) {
    Filler filler(room);
    put(filler, event);
}

DecodedEvent::DecodedEvent(std::span<const std::byte> bytes) {
    ByteCursor cursor(bytes);
    Taker parts(cursor, values_);
    uint8_t index = 0;
    parts.part(event_.time_ns);
    parts.part(event_.cpu);
    parts.part(index);
    take_body(parts, index, event_.body,
              std::make_index_sequence<std::variant_size_v<model::EventBody>>());
    size_ = cursor.position();
}

}  // namespace tracer::history
