// SPDX-License-Identifier: Apache-2.0
//
// Conditions on events: what makes a flight recorder write its history (`--when`), and what ends a
// recording (`--stop-when`).
#pragma once

#include "tracer/base/result.h"
#include "tracer/model/event.h"
#include "tracer/write/event_history.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tracer {

enum class TriggerKind : uint8_t {
    span,     // one has lasted
    event,    // one has happened
    rate,     // so many within a second
    counter,  // has a value
    exit,     // a process has ended with a status
    crash,    // or by a signal
};

enum class TriggerCompare : uint8_t { more, at_least, less, at_most, equal, not_equal };

// One condition, as it was asked for.
struct Trigger {
    std::string text;
    TriggerKind kind = TriggerKind::event;
    // With * and ?: of a point's name, of category:name, or of an event's own name; of exit and
    // crash, of the process's name.
    std::string pattern = "*";
    std::string argument;  // of a counter; empty: each
    TriggerCompare compare = TriggerCompare::more;
    double limit = 0;  // ns, events a second, the value, the status
    // It has to be true k times among the last n times that it was looked at.
    uint32_t k = 1;
    uint32_t n = 1;
};

inline constexpr uint32_t kTriggerWindowMax = 64;

//   span(NAME) > 50ms      event(NAME)      event(NAME) > 1000/s     counter(NAME[, ARGUMENT]) > 5
//   exit[(PROCESS)] != 0   crash[(PROCESS)]             and before any of them: 3 of 10:
[[nodiscard]] Result<Trigger> parse_trigger(std::string_view text,
                                            std::string_view option = "--when");

// Holds events against conditions. Not thread safe.
class TriggerWatch {
public:
    explicit TriggerWatch(std::vector<Trigger> triggers);

    void define(const model::Thread& thread);
    void define(const model::Point& point);

    // Of an event that `history` takes next: the first condition that it makes true; null: none.
    [[nodiscard]] const Trigger* look_at(const model::Event& event, const EventHistory& history);

private:
    struct Watched {
        Trigger trigger;
        uint64_t verdicts = 0;  // the newest in the lowest bit
        // Of a rate, by the time of events: the second at hand.
        uint64_t second = 0;
        uint64_t count = 0;
    };
    struct Point {
        std::string name;
        std::string full_name;
        std::vector<std::string> arguments;
        std::vector<bool> fits;  // by trigger
    };
    struct Process {
        std::string name;
        bool is_leader = false;
    };

    // True: with this verdict the condition holds; it then begins anew.
    [[nodiscard]] static bool judge(Watched& watched, bool verdict);
    [[nodiscard]] bool is_of(size_t trigger, model::PointIndex point, std::string_view name) const;
    [[nodiscard]] bool has_rate(Watched& watched, uint64_t time_ns);
    [[nodiscard]] bool has_value(const Watched& watched,
                                 model::PointIndex point,
                                 std::span<const model::Value> values) const;
    [[nodiscard]] bool is_pulled(size_t trigger,
                                 const model::Event& event,
                                 const EventHistory& history);
    [[nodiscard]] bool is_pulled_by_exit(Watched& watched, const model::Life& life) const;

    std::vector<Watched> triggers_;
    std::vector<Point> points_;  // by index
    std::unordered_map<uint32_t, Process> threads_;
};

}  // namespace tracer
