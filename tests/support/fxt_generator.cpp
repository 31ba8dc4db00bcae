// SPDX-License-Identifier: Apache-2.0
//
// Draws records field by field. Most values are small and recur, as tables are only worth testing
// where something is found in them; some are the largest their field takes. Used by the fuzzer of
// the reader and by the round trip through the writer.
#include "support/fxt_generator.h"

#include <algorithm>
#include <array>

namespace tracer::test {
namespace {

// Less than a record's 32,760 bytes, for headers, names and numbers.
constexpr size_t kTextBytesMax = 24000;
constexpr size_t kShortTextBytesMax = 40;
constexpr std::array<std::string_view, 12> kNames{
    "",          "a",         "ghc",     "gc.major",          "eight by",
    "nine byte", "work",      "process", "\xc3\xa9t\xc3\xa9", "a name of 22 bytes",
    "x[0]",      "path.to.it"};
constexpr std::array<uint8_t, 11> kObjectTypes{1, 2, 3, 4, 5, 6, 9, 11, 12, 14, 15};

}  // namespace

const FxtGenerated& FxtGenerator::any_record() {
    begin();
    made_.payload = below(4) == 0 ? definition() : written();
    return made_;
}

const FxtGenerated& FxtGenerator::written_record() {
    begin();
    made_.payload = written();
    return made_;
}

void FxtGenerator::begin() {
    made_.arguments.clear();
    texts_.clear();
    text_bytes_left_ = kTextBytesMax;
}

FxtPayload FxtGenerator::definition() {
    switch (below(8)) {
        case 0:
            return FxtMagic{};
        case 1: {
            const auto id = static_cast<uint32_t>(below(4));
            providers_.insert(id);
            return FxtProvider{id, text(255)};
        }
        case 2: {
            auto chosen = providers_.begin();
            std::advance(chosen, below(providers_.size()));
            return FxtProviderSection{*chosen};
        }
        case 3:
            return FxtProviderEvent{static_cast<uint32_t>(number()),
                                    static_cast<uint8_t>(below(16))};
        case 4: {
            FxtInitialization record{number() | 1, {}};
            if (below(2) == 0) {
                record.base = FxtInitialization::Base{number(), static_cast<int64_t>(number())};
            }
            return record;
        }
        case 5:
        case 6: {
            // Few indices, so that they are redefined, and the last.
            const auto index = static_cast<uint16_t>(below(16) == 0 ? 0x7fff : 1 + below(8));
            return FxtString{index, name()};
        }
        default:
            return thread();
    }
}

FxtPayload FxtGenerator::written() {
    switch (below(16)) {
        case 0:
            return blob();
        case 1:
            return userspace_object();
        case 2:
            return kernel_object();
        case 3:
        case 4:
            return context_switch();
        case 5:
            return wakeup();
        case 6:
            return legacy_switch();
        case 7:
            return log();
        case 8:
            return large_blob();
        default:
            return event();
    }
}

FxtEvent FxtGenerator::event() {
    FxtEvent event;
    event.time = number();
    event.type = FxtEventType(below(11));
    switch (event.type) {
        case FxtEventType::instant:
        case FxtEventType::duration_begin:
        case FxtEventType::duration_end:
            break;
        case FxtEventType::duration_complete:
            event.time >>= 1;
            event.last_word = event.time + (number() >> 1);
            break;
        default:
            event.last_word = number();
    }
    const FxtThread by = thread();
    event.pid = by.pid;
    event.tid = by.tid;
    event.category = name();
    event.name = name();
    event.arguments = arguments();
    if (event.type == FxtEventType::counter) {
        for (FxtArgument& argument : made_.arguments) argument.value = number_value();
    }
    return event;
}

FxtBlobRecord FxtGenerator::blob() {
    const auto type = static_cast<uint8_t>(1 + below(3));
    const std::string_view blob_name = name();
    return {type, blob_name, text(kTextBytesMax)};
}

FxtUserspaceObject FxtGenerator::userspace_object() {
    FxtUserspaceObject object{number(), thread().pid, name(), {}};
    object.arguments = arguments();
    return object;
}

FxtKernelObject FxtGenerator::kernel_object() {
    FxtKernelObject object{kObjectTypes[below(kObjectTypes.size())], number(), name(), {}};
    object.arguments = arguments();
    return object;
}

FxtSwitch FxtGenerator::context_switch() {
    FxtSwitch record;
    record.time = number();
    record.cpu = static_cast<uint16_t>(below(4096));
    record.out_state = static_cast<uint8_t>(below(6));
    record.out_tid = number();
    record.in_tid = number();
    record.arguments = arguments();
    return record;
}

FxtWakeup FxtGenerator::wakeup() {
    FxtWakeup record;
    record.time = number();
    record.cpu = static_cast<uint16_t>(below(4096));
    record.tid = number();
    record.arguments = arguments();
    return record;
}

FxtLegacySwitch FxtGenerator::legacy_switch() {
    const FxtThread out = thread();
    const FxtThread in = thread();
    FxtLegacySwitch record;
    record.time = number();
    record.cpu = static_cast<uint8_t>(below(256));
    record.out_state = static_cast<uint8_t>(below(6));
    record.out_pid = out.pid;
    record.out_tid = out.tid;
    record.in_pid = in.pid;
    record.in_tid = in.tid;
    record.out_priority = static_cast<uint8_t>(below(256));
    record.in_priority = static_cast<uint8_t>(below(256));
    return record;
}

FxtLog FxtGenerator::log() {
    const FxtThread by = thread();
    const uint64_t time = number();
    return {time, by.pid, by.tid, text(kTextBytesMax)};
}

FxtLargeBlob FxtGenerator::large_blob() {
    FxtLargeBlob large;
    large.category = name();
    large.name = name();
    if (below(2) == 0) {
        const FxtThread by = thread();
        large.event = FxtLargeBlob::Event{number(), by.pid, by.tid};
        large.arguments = arguments();
    }
    large.data = text(kTextBytesMax);
    return large;
}

FxtThread FxtGenerator::thread() {
    const auto index = static_cast<uint8_t>(below(16) == 0 ? 255 : 1 + below(8));
    return {index, 100 + below(3), 100 + below(6)};
}

FxtArgumentRange FxtGenerator::arguments() {
    const uint64_t count = below(4) == 0 ? below(16) : below(3);
    for (uint64_t i = 0; i < count; ++i) {
        const std::string_view argument_name = name();
        made_.arguments.push_back({argument_name, value()});
    }
    return {0, count};
}

FxtValue FxtGenerator::value() {
    switch (below(11)) {
        case 0:
            return std::monostate{};
        case 1:
            return name();
        case 2:
            return FxtPointer{number()};
        case 3:
            return FxtKoid{number()};
        case 4:
            return below(2) == 1;
        case 5:
            return FxtBlob{text(kShortTextBytesMax)};
        default:
            return number_value();
    }
}

FxtValue FxtGenerator::number_value() {
    switch (below(5)) {
        case 0:
            return static_cast<int32_t>(number());
        case 1:
            return static_cast<uint32_t>(number());
        case 2:
            return static_cast<int64_t>(number());
        case 3:
            return number();
        default:
            // Never one that does not equal itself.
            return static_cast<double>(static_cast<int64_t>(number())) / 4;
    }
}

// Mostly one that recurs.
std::string_view FxtGenerator::name() {
    if (below(8) != 0) return kNames[below(kNames.size())];
    return text(kTextBytesMax);
}

// Printable, so that a writer that repairs text leaves it alone. Mostly short: what is long only
// takes time.
std::string_view FxtGenerator::text(size_t bytes_max) {
    const size_t usual_max = below(32) == 0 ? bytes_max : kShortTextBytesMax;
    const size_t bytes = below(std::min({bytes_max, usual_max, text_bytes_left_}) + 1);
    text_bytes_left_ -= bytes;
    std::string& made = texts_.emplace_back();
    made.reserve(bytes);
    auto letter = static_cast<char>('a' + below(26));
    for (size_t i = 0; i < bytes; ++i) {
        made.push_back(letter);
        letter = letter == 'z' ? 'A' : letter == 'Z' ? 'a' : static_cast<char>(letter + 1);
    }
    return made;
}

uint64_t FxtGenerator::number() {
    switch (below(4)) {
        case 0:
            return below(16);
        case 1:
            return UINT64_MAX - below(2);
        default:
            return below(UINT64_MAX);
    }
}

}  // namespace tracer::test
