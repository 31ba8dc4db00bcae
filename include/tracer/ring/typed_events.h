// SPDX-License-Identifier: Apache-2.0
//
// tracer_ring.h for C++: events with the types of what they carry, spans by scope. Header only,
// over the library in C; no exceptions, no allocation of its own.
//
//     const tracer::ring::SpanEvent request("http.request");
//     const tracer::ring::IntEvent queued("queue.length");
//     const tracer::ring::CustomEvent<Sample> sample("sample");  // trivially copyable, or a Codec
//
//     tracer::ring::Rings rings;   // start to end of scope; or run with TRACER_RING_START=1
//     {
//         tracer::ring::Span span(request);
//         queued.write(12);
//     }
//
// Events are registered for the program's life: make them once, as static or global objects. What
// cannot be registered has error() != 0, and refuses to be written with -EINVAL.
#pragma once

#include "tracer/ring/tracer_ring.h"

#include <cerrno>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>

namespace tracer::ring {

// What all of them are.
class RegisteredEvent {
public:
    // 0, or the negative errno of the registration.
    [[nodiscard]] int error() const { return error_; }
    // Null where there is an error.
    [[nodiscard]] const tracer_ring_event* get() const { return event_; }

protected:
    RegisteredEvent(const char* name, tracer_ring_event_type type, uint64_t tag)
        : error_(tracer_ring_register(name, type, tag, &event_)) {}
    RegisteredEvent(const char* name, const tracer_ring_codec& codec, uint64_t tag)
        : error_(tracer_ring_register_custom(name, &codec, tag, &event_)) {}

private:
    const tracer_ring_event* event_ = nullptr;
    int error_;
};

class UnitEvent : public RegisteredEvent {
public:
    explicit UnitEvent(const char* name, uint64_t tag = 0)
        : RegisteredEvent(name, TRACER_RING_UNIT, tag) {}
    int write() const { return tracer_ring_write_unit(get()); }
};

class IntEvent : public RegisteredEvent {
public:
    explicit IntEvent(const char* name, uint64_t tag = 0)
        : RegisteredEvent(name, TRACER_RING_INT, tag) {}
    int write(int64_t value) const { return tracer_ring_write_int(get(), value); }
};

class SpanEvent : public RegisteredEvent {
public:
    explicit SpanEvent(const char* name, uint64_t tag = 0)
        : RegisteredEvent(name, TRACER_RING_SPAN, tag) {}
    int begin() const { return tracer_ring_write_begin(get()); }
    int end() const { return tracer_ring_write_end(get()); }
};

// How a T becomes bytes and comes back: encode() says how many of `buffer` it has filled, negative
// to write nothing; decode() says whether the bytes are a T.
template <class Codec, class T>
concept CodecOf =
    requires(std::span<std::byte> buffer, std::span<const std::byte> bytes, const T& from, T& to) {
    { Codec::encode(buffer, from) }
    noexcept->std::convertible_to<long>;
    { Codec::decode(bytes, to) }
    noexcept->std::convertible_to<bool>;
};

// The bytes of the object as they are in memory.
template <class T>
struct PlainCodec {
    static_assert(std::is_trivially_copyable_v<T>, "a type with more to it needs a codec");
    static_assert(sizeof(T) <= TR_RING_CUSTOM_BYTES_MAX, "an event has at most 1024 bytes");
    static long encode(std::span<std::byte> buffer, const T& value) noexcept {
        std::memcpy(buffer.data(), &value, sizeof(T));
        return sizeof(T);
    }
    static bool decode(std::span<const std::byte> bytes, T& value) noexcept {
        if (bytes.size() != sizeof(T)) return false;
        std::memcpy(&value, bytes.data(), sizeof(T));
        return true;
    }
};

template <class T, class Codec = PlainCodec<T>>
requires CodecOf<Codec, T>
class CustomEvent : public RegisteredEvent {
public:
    explicit CustomEvent(const char* name, uint64_t tag = 0) : RegisteredEvent(name, kCodec, tag) {}
    int write(const T& value) const { return tracer_ring_write_custom(get(), &value); }
    // What a cursor told of this event.
    [[nodiscard]] bool decode(std::span<const std::byte> bytes, T& value) const {
        return tracer_ring_decode(get(), bytes.data(), bytes.size(), &value) == 0;
    }

private:
    static long encode_value(void* buffer, size_t buffer_bytes, const void* value) {
        return Codec::encode({static_cast<std::byte*>(buffer), buffer_bytes},
                             *static_cast<const T*>(value));
    }
    static bool decode_value(const void* bytes, size_t byte_count, void* value) {
        return Codec::decode({static_cast<const std::byte*>(bytes), byte_count},
                             *static_cast<T*>(value));
    }
    static constexpr tracer_ring_codec kCodec{&encode_value, &decode_value};
};

// Begins an event's span, and ends it with the scope if the begin was written.
class Span {
public:
    explicit Span(const SpanEvent& event)
        : event_(tracer_ring_is_active() && event.begin() == 0 ? event.get() : nullptr) {}
    ~Span() {
        if (event_ != nullptr) tracer_ring_write_end(event_);
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

private:
    const tracer_ring_event* event_;
};

// The same for a runtime's phase.
class PhaseSpan {
public:
    explicit PhaseSpan(tracer_ring_phase phase)
        : phase_(phase), is_open_(tracer_ring_is_active() && tracer_ring_begin(phase) == 0) {}
    ~PhaseSpan() {
        if (is_open_) tracer_ring_end(phase_);
    }
    PhaseSpan(const PhaseSpan&) = delete;
    PhaseSpan& operator=(const PhaseSpan&) = delete;

private:
    tracer_ring_phase phase_;
    bool is_open_;
};

// The rings from here to the end of the scope, which need not be started another way.
class Rings {
public:
    explicit Rings(const tracer_ring_options& options = {}) : error_(tracer_ring_start(&options)) {}
    ~Rings() {
        if (error_ == 0) tracer_ring_stop();
    }
    Rings(const Rings&) = delete;
    Rings& operator=(const Rings&) = delete;

    // 0, or the negative errno of the start: nothing is written then.
    [[nodiscard]] int error() const { return error_; }

private:
    int error_;
};

// Absolute; empty: not started.
[[nodiscard]] inline std::string rings_path() {
    std::string path(4096, '\0');
    const int length = tracer_ring_path(path.data(), path.size());
    path.resize(length > 0 ? static_cast<size_t>(length) : 0);
    return path;
}

}  // namespace tracer::ring
