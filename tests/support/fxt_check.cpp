// SPDX-License-Identifier: Apache-2.0
//
// Puts the records of a Fuchsia trace in the order in which Perfetto handles them, by time in
// nanoseconds and then by place in the file, and gives each to the rules of its kind: see
// fxt_check_events.cpp and fxt_check_schedule.cpp. Called once a file, by fxt_reader.
#include "support/fxt_check.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace tracer::test {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;
// Up to here the size fits the field that Perfetto reads it from.
constexpr uint64_t kLargeWordsSkipped = 4095;
constexpr uint8_t kLargeRecord = 15;

// As Perfetto scales: the halves of the tick apart, each to whole nanoseconds. Nothing where the
// time does not fit its signed 64 bits; it drops the record then.
std::optional<uint64_t> to_ns(uint64_t ticks, uint64_t ticks_per_second) {
    constexpr uint64_t kNsMax = std::numeric_limits<int64_t>::max();
    if (ticks_per_second == 0) return std::nullopt;
    const uint64_t ns_per_high = (kNsPerSecond << 32) / ticks_per_second;
    const uint64_t high = ticks >> 32;
    const uint64_t low_ns = (ticks & 0xffffffff) * kNsPerSecond / ticks_per_second;
    if (high != 0 && ns_per_high > kNsMax / high) return std::nullopt;
    if (high * ns_per_high > kNsMax - low_ns) return std::nullopt;
    return high * ns_per_high + low_ns;
}

struct TimedRecord {
    uint64_t time_ns;
    uint64_t ticks_per_second;
    const FxtRecord* record;
};

class FxtChecker {
public:
    explicit FxtChecker(FxtFile& file)
        : file_(file), state_(file), events_(state_), schedule_(state_) {}

    void run() {
        if (file_.initializations.empty() && !file_.events.empty()) {
            state_.problem("no initialization record");
        }
        for (const FxtRecord& record : file_.records) {
            state_.offset = record.offset;
            check_untimed(record);
        }
        std::stable_sort(
            timed_.begin(), timed_.end(),
            [](const TimedRecord& a, const TimedRecord& b) { return a.time_ns < b.time_ns; });
        for (const TimedRecord& timed : timed_) {
            state_.offset = timed.record->offset;
            check_timed(timed);
        }
        events_.finish();
    }

private:
    // In the order of the file: clocks, objects, and what Perfetto never looks at.
    void check_untimed(const FxtRecord& record) {
        switch (record.kind) {
            case FxtRecordKind::provider_info:
                tick_rates_.erase(record.provider);
                break;
            case FxtRecordKind::initialization:
                tick_rates_[record.provider] = file_.initializations[record.item].ticks_per_second;
                break;
            case FxtRecordKind::event:
                add_timed(record, file_.events[record.item].time);
                break;
            case FxtRecordKind::context_switch:
                add_timed(record, file_.switches[record.item].time);
                break;
            case FxtRecordKind::legacy_switch:
                add_timed(record, file_.legacy_switches[record.item].time);
                break;
            case FxtRecordKind::wakeup:
                add_timed(record, file_.wakeups[record.item].time);
                break;
            case FxtRecordKind::kernel_object:
                check_object(file_.objects[record.item]);
                break;
            case FxtRecordKind::blob:
                if (file_.blobs[record.item].type != kFxtBlobPerfetto) file_.unshown_count += 1;
                break;
            case FxtRecordKind::userspace_object:
            case FxtRecordKind::log:
                file_.unshown_count += 1;
                break;
            case FxtRecordKind::large_blob:
                check_large(record);
                break;
            case FxtRecordKind::skipped:
                if (file_.skips[record.item].record_type == kLargeRecord) check_large(record);
                if (file_.skips[record.item].reason == FxtSkipReason::profiler) {
                    file_.unshown_count += 1;
                }
                break;
            case FxtRecordKind::magic:
            case FxtRecordKind::provider_section:
            case FxtRecordKind::provider_event:
            case FxtRecordKind::string:
            case FxtRecordKind::thread:
                break;
        }
    }

    void check_object(const FxtKernelObject& object) {
        if (object.type == kFxtObjectProcess || object.type == kFxtObjectThread) {
            schedule_.check_object(object);
        } else {
            file_.unshown_count += 1;
        }
    }

    void check_large(const FxtRecord& record) {
        if (record.words > kLargeWordsSkipped) {
            state_.problem("large record: Perfetto loses its place there");
        } else {
            state_.problem("large record: Perfetto skips it, and only while it is short");
        }
    }

    void add_timed(const FxtRecord& record, uint64_t ticks) {
        const auto known = tick_rates_.find(record.provider);
        const uint64_t rate = known == tick_rates_.end() ? kNsPerSecond : known->second;
        const auto time_ns = to_ns(ticks, rate);
        if (!time_ns) {
            state_.problem(fmt::format("time {} has more bits than readers keep", ticks));
            return;
        }
        timed_.push_back({*time_ns, rate, &record});
    }

    void check_timed(const TimedRecord& timed) {
        const FxtRecord& record = *timed.record;
        if (record.kind == FxtRecordKind::context_switch) {
            schedule_.check_switch(file_.switches[record.item]);
        } else if (record.kind == FxtRecordKind::legacy_switch) {
            schedule_.check_switch(file_.legacy_switches[record.item]);
        } else if (record.kind == FxtRecordKind::wakeup) {
            schedule_.check_wakeup(file_.wakeups[record.item]);
        } else {
            check_event(file_.events[record.item], timed);
        }
    }

    void check_event(const FxtEvent& event, const TimedRecord& timed) {
        std::optional<uint64_t> end_ns;
        if (event.type == FxtEventType::duration_complete) {
            end_ns = to_ns(event.last_word, timed.ticks_per_second);
            if (!end_ns) {
                state_.problem(
                    fmt::format("time {} has more bits than readers keep", event.last_word));
                return;
            }
        }
        events_.check(event, timed.time_ns, end_ns);
    }

    FxtFile& file_;
    FxtCheckState state_;
    FxtEventRules events_;
    FxtScheduleRules schedule_;
    std::unordered_map<uint32_t, uint64_t> tick_rates_;  // by provider
    std::vector<TimedRecord> timed_;
};

}  // namespace

void FxtCheckState::check_id(uint64_t id) {
    if (id > std::numeric_limits<uint32_t>::max()) {
        problem(fmt::format("id {} has more bits than readers keep", id));
    }
}

void check_fxt(FxtFile& file) {
    FxtChecker(file).run();
}

}  // namespace tracer::test
