// SPDX-License-Identifier: Apache-2.0
//
// The file that tests cut and damage at every byte, and that fuzzing starts from: small, and with
// every kind of record in it. Right by the format; for Perfetto too, but for its large records.
#include "support/fxt_speller.h"

#include <array>
#include <limits>

namespace tracer::test {
namespace {

constexpr uint64_t kPid = 100;
constexpr uint64_t kTid = 101;
constexpr uint64_t kOtherTid = 102;

void add_definitions(FxtSpeller& speller) {
    speller.add(FxtMagic{})
        .add(FxtProvider{1, "tracer"})
        .add(FxtInitialization{1'000'000'000, {}})
        .add(FxtString{1, "process"})
        .add(FxtString{2, "ghc"})
        .add(FxtString{3, "gc.major"})
        .add(FxtThread{1, kPid, kTid})
        .add(FxtKernelObject{kFxtObjectProcess, kPid, "myapp", {}});
    for (const uint64_t tid : {kTid, kOtherTid}) {
        speller.add(FxtKernelObject{kFxtObjectThread, tid, "worker", {}},
                    std::array{FxtArgument{"process", FxtKoid{kPid}}});
    }
    speller.add(FxtKernelObject{3, 7, "memory", {}});
}

void add_events(FxtSpeller& speller) {
    const std::array every_value{
        FxtArgument{"null", std::monostate{}},
        FxtArgument{"i32", std::numeric_limits<int32_t>::min()},
        FxtArgument{"u32", std::numeric_limits<uint32_t>::max()},
        FxtArgument{"i64", std::numeric_limits<int64_t>::min()},
        FxtArgument{"u64", std::numeric_limits<uint64_t>::max()},
        FxtArgument{"f64", -0.5},
        FxtArgument{"text", std::string_view{"inline text"}},
        FxtArgument{"ghc", std::string_view{"gc.major"}},
        FxtArgument{"pointer", FxtPointer{0xdeadbeef}},
        FxtArgument{"koid", FxtKoid{77}},
        FxtArgument{"yes", true},
        FxtArgument{"no", false},
        FxtArgument{"blob", FxtBlob{"\x01\x02\x03"}},
        FxtArgument{"", std::string_view{}},
    };
    const std::array number{FxtArgument{"gen", int64_t{77}}};
    const auto event = [&](FxtEventType type, uint64_t time, uint64_t last_word, uint64_t tid) {
        return FxtEvent{time, type, last_word, "ghc", "collect", kPid, tid, {}};
    };
    speller.add(event(FxtEventType::duration_begin, 1000, 0, kTid), every_value)
        .add(event(FxtEventType::flow_begin, 1000, 5, kTid))
        .add(event(FxtEventType::instant, 1010, 0, kTid))
        .add(event(FxtEventType::counter, 1020, 3, kTid), number)
        .add(event(FxtEventType::duration_complete, 1030, 1040, kOtherTid))
        .add(event(FxtEventType::flow_step, 1030, 5, kOtherTid))
        .add(event(FxtEventType::flow_end, 1040, 5, kOtherTid))
        .add(event(FxtEventType::duration_end, 1050, 0, kTid))
        .add(event(FxtEventType::async_begin, 1060, 9, kTid))
        .add(event(FxtEventType::async_instant, 1070, 9, kTid))
        .add(event(FxtEventType::async_end, 1080, 9, kOtherTid));
}

void add_others(FxtSpeller& speller) {
    const std::array into_thread{
        FxtArgument{"incoming_weight", int32_t{120}},
        FxtArgument{"outgoing_weight", std::numeric_limits<int32_t>::min()}};
    speller.add(FxtWakeup{2000, 3, kTid, {}}, std::array{FxtArgument{"waker", FxtKoid{kOtherTid}}})
        .add(FxtSwitch{2010, 3, 3, 0, kTid, {}}, into_thread)
        .add(FxtLegacySwitch{2020, 3, 3, kPid, kTid, kPid, kOtherTid, 120, 119})
        .add(FxtLog{2030, kPid, kTid, "a message"})
        .add(FxtLog{2040, kPid, kOtherTid, ""})
        .add(FxtBlobRecord{kFxtBlobRaw, "raw", "four"})
        .add(FxtBlobRecord{kFxtBlobLastBranch, "ghc", "branches"})
        .add(FxtBlobRecord{kFxtBlobPerfetto, "", std::string_view{"\x0a\x00", 2}})
        .add(FxtUserspaceObject{0x1000, kPid, "object", {}},
             std::array{FxtArgument{"size", uint64_t{64}}})
        .add(FxtUserspaceObject{0x2000, 200, "", {}})
        .add(FxtSkipped{10, FxtSkipReason::profiler})
        .add(FxtLargeBlob{"ghc", "dump", FxtLargeBlob::Event{2050, kPid, kTid}, {}, "payload"},
             std::array{FxtArgument{"part", uint32_t{1}}})
        .add(FxtLargeBlob{"", "dump", {}, {}, "more payload"});
}

// Its own tables, where the same indices mean something else, and its own clock.
void add_second_provider(FxtSpeller& speller) {
    speller.add(FxtProvider{2, "other"})
        .add(FxtInitialization{1'000'000, FxtInitialization::Base{5, 1'700'000'000'000'000'000}})
        .add(FxtString{3, "other name"})
        .add(FxtThread{1, kPid, kOtherTid})
        .add(FxtEvent{9, FxtEventType::instant, 0, "", "other name", kPid, kOtherTid, {}})
        .add(FxtProviderEvent{2, 0})
        .add(FxtProviderSection{1})
        .add(FxtEvent{9000, FxtEventType::instant, 0, "ghc", "gc.major", kPid, kTid, {}});
}

}  // namespace

FxtSpeller spell_every_record() {
    FxtSpeller speller;
    add_definitions(speller);
    add_events(speller);
    add_others(speller);
    add_second_provider(speller);
    return speller;
}

}  // namespace tracer::test
