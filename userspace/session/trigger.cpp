// SPDX-License-Identifier: Apache-2.0
//
// Conditions on events. They see what a writer sees, so they know no probe and no runtime. Used by
// the flight recorder and by WatchedWriter.
#include "session/trigger.h"

#include "probe/wildcard.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <variant>

namespace tracer {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;

bool holds(TriggerCompare compare, double value, double limit) {
    switch (compare) {
        case TriggerCompare::more:
            return value > limit;
        case TriggerCompare::at_least:
            return value >= limit;
        case TriggerCompare::less:
            return value < limit;
        case TriggerCompare::at_most:
            return value <= limit;
        case TriggerCompare::equal:
            return value == limit;
        case TriggerCompare::not_equal:
            return value != limit;
    }
    return false;
}

std::optional<double> number_in(const model::Value& value) {
    switch (value.type) {
        case model::ValueType::none:
        case model::ValueType::string:
            return std::nullopt;
        case model::ValueType::s32:
        case model::ValueType::s64:
            return static_cast<double>(static_cast<int64_t>(value.bits));
        case model::ValueType::f64:
            return value.real;
        case model::ValueType::u32:
        case model::ValueType::u64:
        case model::ValueType::boolean:
        case model::ValueType::pointer:
            return static_cast<double>(value.bits);
    }
    return std::nullopt;
}

}  // namespace

TriggerWatch::TriggerWatch(std::vector<Trigger> triggers) {
    for (Trigger& trigger : triggers) triggers_.push_back({.trigger = std::move(trigger)});
}

void TriggerWatch::define(const model::Thread& thread) {
    threads_[static_cast<uint32_t>(thread.index)] = {
        .name = thread.process_name, .is_leader = thread.tid == thread.pid && !thread.is_track};
}

void TriggerWatch::define(const model::Point& point) {
    const auto index = static_cast<size_t>(point.index);
    if (index >= points_.size()) points_.resize(index + 1);
    Point& known = points_[index];
    known.name = point.name;
    known.full_name = point.category + ":" + point.name;
    known.arguments.clear();
    for (const model::Argument& argument : point.arguments) {
        known.arguments.push_back(argument.name);
    }
    known.fits.clear();
    for (const Watched& watched : triggers_) {
        known.fits.push_back(wildcard_matches(watched.trigger.pattern, known.name) ||
                             wildcard_matches(watched.trigger.pattern, known.full_name));
    }
}

const Trigger* TriggerWatch::look_at(const model::Event& event, const EventHistory& history) {
    const Trigger* pulled = nullptr;
    // All of them, also behind the first: each counts for itself.
    for (size_t i = 0; i < triggers_.size(); ++i) {
        if (is_pulled(i, event, history) && pulled == nullptr) pulled = &triggers_[i].trigger;
    }
    if (const auto* life = std::get_if<model::Life>(&event.body);
        life != nullptr && life->kind == model::LifeKind::exit) {
        threads_.erase(static_cast<uint32_t>(life->thread));
    }
    return pulled;
}

bool TriggerWatch::judge(Watched& watched, bool verdict) {
    const uint32_t n = watched.trigger.n;
    const uint64_t window = n >= kTriggerWindowMax ? UINT64_MAX : (uint64_t{1} << n) - 1;
    watched.verdicts = ((watched.verdicts << 1) | (verdict ? 1 : 0)) & window;
    if (!verdict || std::popcount(watched.verdicts) < static_cast<int>(watched.trigger.k)) {
        return false;
    }
    watched.verdicts = 0;
    return true;
}

bool TriggerWatch::is_of(size_t trigger, model::PointIndex point, std::string_view name) const {
    const auto index = static_cast<size_t>(point);
    if (index >= points_.size() || points_[index].fits.empty()) return false;
    if (points_[index].fits[trigger]) return true;
    return !name.empty() && wildcard_matches(triggers_[trigger].trigger.pattern, name);
}

// A second is judged when it holds too many, or once it is over.
bool TriggerWatch::has_rate(Watched& watched, uint64_t time_ns) {
    const uint64_t second = time_ns / kSecondNs;
    if (second != watched.second) {
        const bool was_judged = static_cast<double>(watched.count) > watched.trigger.limit;
        if (watched.count != 0 && !was_judged) static_cast<void>(judge(watched, false));
        watched.second = second;
        watched.count = 0;
    }
    watched.count += 1;
    const auto count = static_cast<double>(watched.count);
    if (count > watched.trigger.limit && count - 1 <= watched.trigger.limit) {
        return judge(watched, true);
    }
    return false;
}

bool TriggerWatch::has_value(const Watched& watched,
                             model::PointIndex point,
                             std::span<const model::Value> values) const {
    const Trigger& trigger = watched.trigger;
    const std::vector<std::string>& names = points_[static_cast<size_t>(point)].arguments;
    for (size_t i = 0; i < values.size() && i < names.size(); ++i) {
        if (!trigger.argument.empty() && names[i] != trigger.argument) continue;
        const auto number = number_in(values[i]);
        if (number && holds(trigger.compare, *number, trigger.limit)) return true;
    }
    return false;
}

bool TriggerWatch::is_pulled_by_exit(Watched& watched, const model::Life& life) const {
    if (life.kind != model::LifeKind::exit) return false;
    const auto thread = threads_.find(static_cast<uint32_t>(life.thread));
    if (thread == threads_.end() || !thread->second.is_leader) return false;
    const Trigger& trigger = watched.trigger;
    if (!wildcard_matches(trigger.pattern, thread->second.name)) return false;
    constexpr int32_t kFirstSignal = 128;
    const bool verdict = trigger.kind == TriggerKind::crash
                             ? life.exit_code > kFirstSignal
                             : holds(trigger.compare, life.exit_code, trigger.limit);
    return judge(watched, verdict);
}

bool TriggerWatch::is_pulled(size_t trigger,
                             const model::Event& event,
                             const EventHistory& history) {
    Watched& watched = triggers_[trigger];
    const auto happens = [&](model::PointIndex point, std::string_view name) {
        if (!is_of(trigger, point, name)) return false;
        if (watched.trigger.kind == TriggerKind::rate) return has_rate(watched, event.time_ns);
        return judge(watched, true);
    };
    switch (watched.trigger.kind) {
        case TriggerKind::span: {
            const bool is_end = std::holds_alternative<model::SpanEnd>(event.body) ||
                                std::holds_alternative<model::AsyncEnd>(event.body);
            if (!is_end) return false;
            const auto span = history.ended_by(event);
            if (!span || !is_of(trigger, span->point, span->name)) return false;
            const auto lasted_ns = static_cast<double>(event.time_ns - span->begin_ns);
            return judge(watched, holds(watched.trigger.compare, lasted_ns, watched.trigger.limit));
        }
        case TriggerKind::event:
        case TriggerKind::rate:
            if (const auto* instant = std::get_if<model::Instant>(&event.body)) {
                return happens(instant->point, instant->name);
            }
            if (const auto* begin = std::get_if<model::SpanBegin>(&event.body)) {
                return happens(begin->point, begin->name);
            }
            if (const auto* begin = std::get_if<model::AsyncBegin>(&event.body)) {
                return happens(begin->point, begin->name);
            }
            return false;
        case TriggerKind::counter: {
            const auto* counter = std::get_if<model::Counter>(&event.body);
            if (counter == nullptr || !is_of(trigger, counter->point, counter->name)) return false;
            return judge(watched, has_value(watched, counter->point, counter->values));
        }
        case TriggerKind::exit:
        case TriggerKind::crash: {
            const auto* life = std::get_if<model::Life>(&event.body);
            return life != nullptr && is_pulled_by_exit(watched, *life);
        }
    }
    return false;
}

}  // namespace tracer
