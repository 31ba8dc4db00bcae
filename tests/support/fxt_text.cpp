// SPDX-License-Identifier: Apache-2.0
//
// Fuchsia traces as text, a record a line. The lines are what goldens hold, so they say every
// field and change only with the files. Used by fxt_dump and by golden tests.
#include "support/fxt_text.h"

#include <array>

#include <fmt/format.h>

namespace tracer::test {
namespace {

constexpr std::array<std::string_view, 11> kEventTypes{
    "instant",     "counter",   "begin",      "end",       "complete", "async_begin",
    "async_event", "async_end", "flow_begin", "flow_step", "flow_end"};

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (byte < 0x20 || byte == 0x7f) {
            out += fmt::format("\\x{:02x}", byte);
        } else {
            out += c;
        }
    }
    return out + '"';
}

struct ValueText {
    std::string operator()(std::monostate) const { return "null"; }
    std::string operator()(int32_t value) const { return fmt::format("i32 {}", value); }
    std::string operator()(uint32_t value) const { return fmt::format("u32 {}", value); }
    std::string operator()(int64_t value) const { return fmt::format("i64 {}", value); }
    std::string operator()(uint64_t value) const { return fmt::format("u64 {}", value); }
    std::string operator()(double value) const { return fmt::format("f64 {}", value); }
    std::string operator()(std::string_view value) const { return quoted(value); }
    std::string operator()(FxtPointer value) const {
        return fmt::format("ptr {:#x}", value.address);
    }
    std::string operator()(FxtKoid value) const { return fmt::format("koid {}", value.id); }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(FxtBlob value) const {
        return fmt::format("blob {} bytes", value.bytes);
    }
};

std::string arguments_text(const FxtFile& file, FxtArgumentRange range) {
    std::string out;
    for (const FxtArgument& argument : file.arguments_of(range)) {
        out += fmt::format(" {}={}", argument.name, std::visit(ValueText{}, argument.value));
    }
    return out;
}

std::string event_text(const FxtFile& file, const FxtEvent& event) {
    std::string out =
        fmt::format("{} {} {}/{} {} {}{}", kEventTypes[static_cast<size_t>(event.type)], event.time,
                    event.pid, event.tid, quoted(event.category), quoted(event.name),
                    arguments_text(file, event.arguments));
    if (event.type == FxtEventType::duration_complete) {
        out += fmt::format(" until {}", event.last_word);
    } else if (event.last_word != 0) {
        out += fmt::format(" id {}", event.last_word);
    }
    return out;
}

std::string object_text(const FxtFile& file, const FxtKernelObject& object) {
    const std::string kind = object.type == 1   ? "process"
                             : object.type == 2 ? "thread"
                                                : fmt::format("object of type {}", object.type);
    return fmt::format("{} {} {}{}", kind, object.koid, quoted(object.name),
                       arguments_text(file, object.arguments));
}

}  // namespace

std::string to_text(const FxtFile& file, const FxtRecord& record) {
    switch (record.kind) {
        case FxtRecordKind::magic:
            return "magic";
        case FxtRecordKind::provider_info:
            return fmt::format("provider {} {}", file.providers[record.item].id,
                               quoted(file.providers[record.item].name));
        case FxtRecordKind::provider_section:
            return "provider_section";
        case FxtRecordKind::provider_event:
            return "provider_event";
        case FxtRecordKind::initialization:
            return fmt::format("initialization {}", file.tick_rates[record.item]);
        case FxtRecordKind::string:
            return fmt::format("string {} {}", file.strings[record.item].index,
                               quoted(file.strings[record.item].text));
        case FxtRecordKind::thread: {
            const FxtThread& thread = file.threads[record.item];
            return fmt::format("thread_slot {} {}/{}", thread.index, thread.pid, thread.tid);
        }
        case FxtRecordKind::event:
            return event_text(file, file.events[record.item]);
        case FxtRecordKind::kernel_object:
            return object_text(file, file.objects[record.item]);
        case FxtRecordKind::context_switch: {
            const FxtSwitch& change = file.switches[record.item];
            return fmt::format("switch {} cpu {} {} -> {} state {}{}", change.time, change.cpu,
                               change.out_tid, change.in_tid, change.out_state,
                               arguments_text(file, change.arguments));
        }
        case FxtRecordKind::wakeup: {
            const FxtWakeup& wakeup = file.wakeups[record.item];
            return fmt::format("wakeup {} cpu {} {}{}", wakeup.time, wakeup.cpu, wakeup.tid,
                               arguments_text(file, wakeup.arguments));
        }
        case FxtRecordKind::blob:
            return fmt::format("blob of {} words", record.words);
        case FxtRecordKind::skipped:
            return fmt::format("skipped {} words", record.words);
    }
    return {};
}

std::string to_text(const FxtFile& file) {
    std::string out;
    for (const FxtRecord& record : file.records) out += to_text(file, record) + '\n';
    for (const std::string& problem : file.problems) out += "problem " + problem + '\n';
    if (file.open_span_count > 0) out += fmt::format("open spans: {}\n", file.open_span_count);
    if (file.truncated_tail_bytes > 0) {
        out += fmt::format("unfinished record: {} bytes\n", file.truncated_tail_bytes);
    }
    return out;
}

}  // namespace tracer::test
