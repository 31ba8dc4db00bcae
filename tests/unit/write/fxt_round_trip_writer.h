// SPDX-License-Identifier: Apache-2.0
//
// Writes given records through every way of the public interface, drawn at random, and turns to
// other chunks, sinks and providers between them. For fxt_round_trip_test.cpp.
#pragma once

#include "support/fxt_generator.h"
#include "tracer/write/fxt/event_template.h"
#include "tracer/write/fxt/stream.h"
#include "tracer/write/sinks.h"

#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tracer::test {

using Random = std::mt19937_64;

// Not the one that readers take without an initialization.
inline constexpr uint64_t kTicksPerSecond = 1'000'000;
inline constexpr uint16_t kStringSlots = 3;
inline constexpr uint8_t kThreadSlots = 2;
// References from the cache must outlive the record that has them, with 32 names at most.
inline constexpr uint16_t kCachedStrings = 40;

inline FxtChoice choices_of(Random& random) {
    return [&random](uint64_t bound) { return random() % bound; };
}

// How one round trip is made.
struct RoundTripPlan {
    uint64_t seed;
    size_t window_bytes;
    uint64_t refused_of_100 = 0;  // reservations
};

// Has no room at times.
class MoodySink : public MemorySink {
public:
    [[nodiscard]] std::span<std::byte> reserve(size_t bytes) override {
        if (is_full && is_full()) return {};
        return MemorySink::reserve(bytes);
    }
    std::function<bool()> is_full;
};

// A sink's bytes with the places where what reads alone begins in it.
struct Part {
    MoodySink sink;
    bool begins_chunk = false;
    std::vector<size_t> chunk_begins;
};

// Writes records, each by a way drawn at random: names inline, interned, cached or in a slot;
// events typed, at run time or by template; threads in full or by slot.
class RandomWriter {
public:
    explicit RandomWriter(const RoundTripPlan& plan)
        : random_(plan.seed + 1),
          refused_of_100_(plan.refused_of_100),
          stream_(add_part().sink,
                  {.provider_name = "random",
                   .ticks_per_second = kTicksPerSecond,
                   .string_slots = kStringSlots,
                   .cached_strings = kCachedStrings,
                   .thread_slots = kThreadSlots,
                   .window_bytes = plan.window_bytes}) {
        parts_.back().begins_chunk = true;
        EXPECT_TRUE(refused_of_100_ > 0 || stream_.open().has_value());
    }

    // False: the sink had no room for it, so it must not be found.
    [[nodiscard]] bool write(const FxtGenerated& record) {
        next_slot_ = 0;
        const fxt::Outcome outcome = std::visit(
            [&](const auto& payload) { return write_payload(payload, record.arguments); },
            record.payload);
        EXPECT_FALSE(outcome.is_cut());
        const bool is_written = accept(outcome);
        if (below(100) == 0) turn();
        return is_written;
    }

    // Every piece that must read alone, in order.
    [[nodiscard]] std::vector<std::vector<std::byte>> close() {
        refused_of_100_ = 0;
        EXPECT_TRUE(stream_.close().has_value());
        EXPECT_EQ(stream_.counters().refused, 0U);
        std::vector<std::vector<std::byte>> chunks;
        for (const Part& part : parts_) {
            const auto bytes = part.sink.bytes();
            size_t begin = 0;
            const auto append_until = [&](size_t end) {
                const auto piece = bytes.subspan(begin, end - begin);
                chunks.back().insert(chunks.back().end(), piece.begin(), piece.end());
                begin = end;
            };
            if (part.begins_chunk) chunks.emplace_back();
            for (const size_t chunk_begin : part.chunk_begins) {
                append_until(chunk_begin);
                chunks.emplace_back();
            }
            append_until(bytes.size());
        }
        return chunks;
    }

private:
    uint64_t below(uint64_t bound) { return random_() % bound; }

    Part& add_part() {
        Part& part = parts_.emplace_back();
        part.sink.is_full = [this] { return moods_() % 100 < refused_of_100_; };
        return part;
    }

    // Whether something is in the trace; the one reason why not is a sink without room.
    bool accept(const fxt::Outcome& outcome) {
        if (outcome) return true;
        EXPECT_EQ(fxt::name_of(outcome.fault()), "no_room");
        EXPECT_GT(refused_of_100_, 0U);
        return false;
    }
    // What a full sink lets wait is written before the next record.
    void accept(const Status& status) { EXPECT_TRUE(status.has_value() || refused_of_100_ > 0); }

    // What may happen between any two records.
    void turn() {
        switch (below(5)) {
            case 0:
                move_to_new_sink(SinkStart::reads_alone);
                break;
            case 1:
                move_to_new_sink(SinkStart::goes_on);
                break;
            case 2:
                stream_.flush();
                parts_.back().chunk_begins.push_back(parts_.back().sink.bytes().size());
                accept(stream_.begin_chunk());
                break;
            case 3:
                turn_to_provider();
                break;
            default:
                accept(stream_.initialization({.tick = random_()}));
        }
    }

    void move_to_new_sink(SinkStart start) {
        Part& part = add_part();
        part.begins_chunk = start == SinkStart::reads_alone;
        accept(stream_.switch_sink(part.sink, start));
    }

    void turn_to_provider() {
        const auto id = static_cast<uint32_t>(2 + below(3));
        if (below(2) == 0 || !has_provider_[id]) {
            has_provider_[id] |= accept(stream_.provider_info(id, "other"));
        } else {
            accept(stream_.provider_section(below(2) == 0 ? 1 : id));
        }
    }

    fxt::StringRef interned(std::string_view text) {
        const auto ref = stream_.intern(text);
        EXPECT_TRUE(ref.has_value()) << fxt::name_of(ref.error());
        return ref.value_or(fxt::StringRef(text));
    }

    // A reference that is good until the record is written.
    fxt::StringRef name(std::string_view text) {
        switch (below(4)) {
            case 0:
                return interned(text);
            case 1: {
                const auto ref = stream_.cached(text);
                if (!ref) accept(fxt::Outcome{ref.error()});
                return ref.value_or(fxt::StringRef(text));
            }
            case 2:
                // A slot can name one text of a record.
                if (next_slot_ == kStringSlots) return {text};
                if (!accept(stream_.define_string(next_slot_, text))) return {text};
                return stream_.string_slot(next_slot_++);
            default:
                return {text};
        }
    }

    fxt::ThreadRef thread(uint64_t pid, uint64_t tid) {
        const fxt::ThreadIds ids{pid, tid};
        switch (below(4)) {
            case 0:
                return stream_.thread(ids);
            case 1: {
                const auto ref = stream_.pinned_thread(ids);
                if (!ref) accept(fxt::Outcome{ref.error()});
                return ref.value_or(fxt::ThreadRef(ids));
            }
            case 2: {
                // A legacy switch has two: each takes its own slot.
                next_thread_slot_ = next_thread_slot_ == kThreadSlots ? 1 : next_thread_slot_ + 1;
                const auto slot = static_cast<uint8_t>(next_thread_slot_);
                if (!accept(stream_.define_thread(slot, ids))) return ids;
                return fxt::ThreadRef::at(slot);
            }
            default:
                return ids;
        }
    }

    static fxt::Bytes bytes_of(std::string_view data) { return std::as_bytes(std::span(data)); }

    // Calls use(arg(...)) with the argument's own type.
    template <typename Use>
    fxt::Outcome with_typed(const FxtArgument& argument, const Use& use) {
        const fxt::StringRef ref = name(argument.name);
        return std::visit(
            [&](const auto& value) {
                using T = std::decay_t<decltype(value)>;
                if constexpr (std::is_same_v<T, std::monostate>) {
                    return use(fxt::arg(ref, nullptr));
                } else if constexpr (std::is_same_v<T, std::string_view>) {
                    return use(fxt::arg(ref, name(value)));
                } else if constexpr (std::is_same_v<T, FxtPointer>) {
                    return use(fxt::arg(ref, fxt::Pointer{value.address}));
                } else if constexpr (std::is_same_v<T, FxtKoid>) {
                    return use(fxt::arg(ref, fxt::Koid{value.id}));
                } else if constexpr (std::is_same_v<T, FxtBlob>) {
                    return use(fxt::arg(ref, bytes_of(value.data)));
                } else {
                    return use(fxt::arg(ref, value));
                }
            },
            argument.value);
    }

    fxt::ArgumentList list_of(std::span<const FxtArgument> arguments) {
        fxt::ArgumentList list;
        for (const FxtArgument& argument : arguments) {
            EXPECT_TRUE(static_cast<bool>(with_typed(argument, [&](const fxt::Argument& typed) {
                return list.add(typed) ? fxt::Outcome{}
                                       : fxt::Outcome{fxt::Fault::too_many_arguments};
            })));
        }
        return list;
    }

    // --- Events, three ways ---

    fxt::Outcome write_payload(const FxtEvent& event, std::span<const FxtArgument> arguments) {
        switch (below(3)) {
            case 0:
                if (arguments.empty()) return write_typed(event);
                if (arguments.size() == 1) {
                    return with_typed(arguments[0], [&](const auto& argument) {
                        return write_typed(event, argument);
                    });
                }
                break;
            case 1:
                if (const auto outcome = write_by_template(event, arguments)) return *outcome;
                break;
            default:
                break;
        }
        const auto list = list_of(arguments);
        return stream_.event({.type = fxt::EventType(event.type),
                              .thread = thread(event.pid, event.tid),
                              .category = name(event.category),
                              .name = name(event.name),
                              .time = event.time,
                              .last_word = event.last_word},
                             list);
    }

    template <typename... Arguments>
    fxt::Outcome write_typed(const FxtEvent& event, const Arguments&... arguments) {
        const fxt::ThreadRef by = thread(event.pid, event.tid);
        const fxt::StringRef category = name(event.category);
        const fxt::StringRef what = name(event.name);
        const uint64_t time = event.time;
        const uint64_t last = event.last_word;
        switch (event.type) {
            case FxtEventType::instant:
                return stream_.instant(by, category, what, time, arguments...);
            case FxtEventType::counter:
                // The compiler takes numbers only, and the generator makes no others.
                if constexpr ((is_number(Arguments::kType) && ...)) {
                    return stream_.counter(by, category, what, time, last, arguments...);
                }
                return fxt::Fault::wrong_type;
            case FxtEventType::duration_begin:
                return stream_.duration_begin(by, category, what, time, arguments...);
            case FxtEventType::duration_end:
                return stream_.duration_end(by, category, what, time, arguments...);
            case FxtEventType::duration_complete:
                return stream_.duration_complete(by, category, what, time, last, arguments...);
            case FxtEventType::async_begin:
                return stream_.async_begin(by, category, what, time, last, arguments...);
            case FxtEventType::async_instant:
                return stream_.async_instant(by, category, what, time, last, arguments...);
            case FxtEventType::async_end:
                return stream_.async_end(by, category, what, time, last, arguments...);
            case FxtEventType::flow_begin:
                return stream_.flow_begin(by, category, what, time, last, arguments...);
            case FxtEventType::flow_step:
                return stream_.flow_step(by, category, what, time, last, arguments...);
            case FxtEventType::flow_end:
                return stream_.flow_end(by, category, what, time, last, arguments...);
        }
        return fxt::Fault::wrong_type;
    }

    static constexpr bool is_number(fxt::ArgumentType type) {
        return type >= fxt::ArgumentType::int32 && type <= fxt::ArgumentType::float64;
    }

    // Nothing, where an argument is a blob: templates have none.
    std::optional<fxt::Outcome> write_by_template(const FxtEvent& event,
                                                  std::span<const FxtArgument> arguments) {
        std::vector<fxt::ArgumentShape> shapes;
        std::vector<fxt::Number> values;
        for (const FxtArgument& argument : arguments) {
            if (std::holds_alternative<FxtBlob>(argument.value)) return std::nullopt;
            const auto type = fxt::ArgumentType(argument.value.index());
            shapes.push_back({interned(argument.name), type});
            values.push_back(number_of(argument.value));
        }
        auto made = fxt::EventTemplate::make(
            stream_, fxt::EventType(event.type), fxt::ThreadIds{event.pid, event.tid},
            interned(event.category), interned(event.name), shapes);
        if (!made) return fxt::Outcome{made.error()};
        const bool has_last_word = event.type != FxtEventType::instant &&
                                   event.type != FxtEventType::duration_begin &&
                                   event.type != FxtEventType::duration_end;
        if (arguments.empty() && has_last_word)
            return made->write_with(event.time, event.last_word);
        if (arguments.empty()) return made->write(event.time);
        return made->checked_write(event.time, event.last_word, values);
    }

    fxt::Number number_of(const FxtValue& value) {
        return std::visit(
            [&](const auto& held) {
                using T = std::decay_t<decltype(held)>;
                if constexpr (std::is_same_v<T, std::monostate>) {
                    return fxt::to_number(nullptr);
                } else if constexpr (std::is_same_v<T, std::string_view>) {
                    return fxt::to_number(interned(held));
                } else if constexpr (std::is_same_v<T, FxtPointer>) {
                    return fxt::to_number(fxt::Pointer{held.address});
                } else if constexpr (std::is_same_v<T, FxtKoid>) {
                    return fxt::to_number(fxt::Koid{held.id});
                } else if constexpr (std::is_same_v<T, FxtBlob>) {
                    return fxt::Number{};
                } else {
                    return fxt::to_number(held);
                }
            },
            value);
    }

    // --- The rest ---

    fxt::Outcome write_payload(const FxtBlobRecord& blob, std::span<const FxtArgument> /*none*/) {
        return stream_.blob(fxt::BlobType(blob.type), name(blob.name), bytes_of(blob.data));
    }
    fxt::Outcome write_payload(const FxtUserspaceObject& object,
                               std::span<const FxtArgument> arguments) {
        const auto list = list_of(arguments);
        return stream_.userspace_object(thread(object.pid, object.pid), object.pointer,
                                        name(object.name), list);
    }
    fxt::Outcome write_payload(const FxtKernelObject& object,
                               std::span<const FxtArgument> arguments) {
        const auto list = list_of(arguments);
        return stream_.kernel_object(fxt::ObjectType(object.type), object.koid, name(object.name),
                                     list);
    }
    fxt::Outcome write_payload(const FxtSwitch& record, std::span<const FxtArgument> arguments) {
        const auto list = list_of(arguments);
        return stream_.context_switch({.cpu = record.cpu,
                                       .time = record.time,
                                       .out = record.out_tid,
                                       .out_state = fxt::OutgoingState(record.out_state),
                                       .in = record.in_tid},
                                      list);
    }
    fxt::Outcome write_payload(const FxtWakeup& record, std::span<const FxtArgument> arguments) {
        const auto list = list_of(arguments);
        return stream_.wakeup(record.cpu, record.time, record.tid, list);
    }
    fxt::Outcome write_payload(const FxtLegacySwitch& record,
                               std::span<const FxtArgument> /*none*/) {
        return stream_.legacy_switch({.cpu = record.cpu,
                                      .time = record.time,
                                      .out = thread(record.out_pid, record.out_tid),
                                      .out_state = fxt::OutgoingState(record.out_state),
                                      .out_priority = record.out_priority,
                                      .in = thread(record.in_pid, record.in_tid),
                                      .in_priority = record.in_priority});
    }
    fxt::Outcome write_payload(const FxtLog& log, std::span<const FxtArgument> /*none*/) {
        return stream_.log(thread(log.pid, log.tid), log.time, log.message);
    }
    fxt::Outcome write_payload(const FxtLargeBlob& blob, std::span<const FxtArgument> arguments) {
        const fxt::StringRef category = name(blob.category);
        const fxt::StringRef what = name(blob.name);
        if (!blob.event) return stream_.large_blob(category, what, bytes_of(blob.data));
        const auto list = list_of(arguments);
        return stream_.large_blob({.thread = thread(blob.event->pid, blob.event->tid),
                                   .category = category,
                                   .name = what,
                                   .time = blob.event->time},
                                  bytes_of(blob.data), list);
    }
    // The definitions, which the stream makes itself.
    template <typename T>
    fxt::Outcome write_payload(const T& /*payload*/, std::span<const FxtArgument> /*arguments*/) {
        return fxt::Fault::wrong_type;
    }

    Random random_;
    Random moods_{7};  // of the sinks
    uint64_t refused_of_100_;
    std::deque<Part> parts_;
    fxt::Stream stream_;
    unsigned next_slot_ = 0;
    unsigned next_thread_slot_ = 0;
    std::array<bool, 5> has_provider_{};
};

}  // namespace tracer::test
