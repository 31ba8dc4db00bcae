// SPDX-License-Identifier: Apache-2.0
//
// Fuchsia traces as text, a record a line. The lines are what goldens hold, so they say every
// field and change only with the files. Used by fxt_dump and by golden tests.
#include "support/fxt_text.h"

#include "tracer/base/byte_cursor.h"

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

std::string hex(std::string_view data) {
    std::string out;
    for (const char c : data) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return out;
}

// How many, and the first few.
std::string bytes_text(std::string_view data) {
    constexpr size_t kShown = 16;
    return fmt::format("{} bytes {}{}", data.size(), hex(data.substr(0, kShown)),
                       data.size() > kShown ? "..." : "");
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
    std::string operator()(FxtBlob value) const { return "blob " + bytes_text(value.data); }
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
    const std::string kind = object.type == kFxtObjectProcess ? "process"
                             : object.type == kFxtObjectThread
                                 ? "thread"
                                 : fmt::format("object of type {}", object.type);
    return fmt::format("{} {} {}{}", kind, object.koid, quoted(object.name),
                       arguments_text(file, object.arguments));
}

std::string initialization_text(const FxtInitialization& record) {
    std::string out = fmt::format("initialization {}", record.ticks_per_second);
    if (record.base) {
        out += fmt::format(" tick {} at {} ns", record.base->tick, record.base->unix_ns);
    }
    return out;
}

std::string legacy_switch_text(const FxtLegacySwitch& change) {
    return fmt::format("legacy_switch {} cpu {} {}/{} -> {}/{} state {} priority {} -> {}",
                       change.time, change.cpu, change.out_pid, change.out_tid, change.in_pid,
                       change.in_tid, change.out_state, change.out_priority, change.in_priority);
}

std::string large_blob_text(const FxtFile& file, const FxtLargeBlob& blob) {
    std::string out = "large_blob";
    if (blob.event) {
        out += fmt::format(" {} {}/{}", blob.event->time, blob.event->pid, blob.event->tid);
    }
    return out + fmt::format(" {} {}{} {}", quoted(blob.category), quoted(blob.name),
                             arguments_text(file, blob.arguments), bytes_text(blob.data));
}

std::string skipped_text(const FxtRecord& record, const FxtSkipped& skipped) {
    constexpr std::array<std::string_view, 4> kReasons{"profiler", "unknown type", "damaged",
                                                       "too large"};
    return fmt::format("skipped {} words of type {}: {}", record.words, skipped.record_type,
                       kReasons[static_cast<size_t>(skipped.reason)]);
}

// What is only in tables: providers, clocks, strings, threads.
std::string definition_text(const FxtFile& file, const FxtRecord& record) {
    switch (record.kind) {
        case FxtRecordKind::provider_info:
            return fmt::format("provider {} {}", file.providers[record.item].id,
                               quoted(file.providers[record.item].name));
        case FxtRecordKind::provider_section:
            return fmt::format("provider_section {}", file.provider_sections[record.item].id);
        case FxtRecordKind::provider_event: {
            const FxtProviderEvent& event = file.provider_events[record.item];
            return fmt::format("provider_event {} {}", event.id,
                               event.event == 0 ? "buffer_full" : std::to_string(event.event));
        }
        case FxtRecordKind::initialization:
            return initialization_text(file.initializations[record.item]);
        case FxtRecordKind::string:
            return fmt::format("string {} {}", file.strings[record.item].index,
                               quoted(file.strings[record.item].text));
        case FxtRecordKind::thread: {
            const FxtThread& thread = file.threads[record.item];
            return fmt::format("thread_slot {} {}/{}", thread.index, thread.pid, thread.tid);
        }
        default:
            return "magic";
    }
}

}  // namespace

std::string to_text(const FxtFile& file, const FxtRecord& record) {
    switch (record.kind) {
        case FxtRecordKind::magic:
        case FxtRecordKind::provider_info:
        case FxtRecordKind::provider_section:
        case FxtRecordKind::provider_event:
        case FxtRecordKind::initialization:
        case FxtRecordKind::string:
        case FxtRecordKind::thread:
            return definition_text(file, record);
        case FxtRecordKind::event:
            return event_text(file, file.events[record.item]);
        case FxtRecordKind::blob: {
            const FxtBlobRecord& blob = file.blobs[record.item];
            return fmt::format("blob of type {} {} {}", blob.type, quoted(blob.name),
                               bytes_text(blob.data));
        }
        case FxtRecordKind::userspace_object: {
            const FxtUserspaceObject& object = file.userspace_objects[record.item];
            return fmt::format("userspace_object {:#x} of {} {}{}", object.pointer, object.pid,
                               quoted(object.name), arguments_text(file, object.arguments));
        }
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
        case FxtRecordKind::legacy_switch:
            return legacy_switch_text(file.legacy_switches[record.item]);
        case FxtRecordKind::log: {
            const FxtLog& log = file.logs[record.item];
            return fmt::format("log {} {}/{} {}", log.time, log.pid, log.tid, quoted(log.message));
        }
        case FxtRecordKind::large_blob:
            return large_blob_text(file, file.large_blobs[record.item]);
        case FxtRecordKind::skipped:
            return skipped_text(record, file.skips[record.item]);
    }
    return {};
}

namespace {

// Indented below their record, four a line.
std::string words_text(std::span<const std::byte> bytes) {
    std::string out;
    ByteCursor cursor(bytes);
    for (size_t i = 0; cursor.remaining() >= 8; ++i) {
        out += fmt::format("{}{:016x}",
                           i % 4 != 0 ? " "
                           : i == 0   ? "    "
                                      : "\n    ",
                           cursor.read<uint64_t>().value_or(0));
    }
    return out + '\n';
}

std::string summary_text(const FxtFile& file) {
    std::string out;
    for (const std::string& problem : file.problems) out += "problem " + problem + '\n';
    if (file.open_span_count > 0) out += fmt::format("open spans: {}\n", file.open_span_count);
    if (file.open_async_count > 0) {
        out += fmt::format("open asynchronous spans: {}\n", file.open_async_count);
    }
    if (file.open_flow_count > 0) out += fmt::format("open flows: {}\n", file.open_flow_count);
    if (file.unshown_count > 0) {
        out += fmt::format("records that Perfetto does not show: {}\n", file.unshown_count);
    }
    if (file.truncated_tail_bytes > 0) {
        out += fmt::format("unfinished record: {} bytes\n", file.truncated_tail_bytes);
    }
    if (file.counts.unreadable_bytes > 0) {
        out += fmt::format("unreadable: {} bytes\n", file.counts.unreadable_bytes);
    }
    return out;
}

}  // namespace

std::string to_text(const FxtFile& file) {
    std::string out;
    for (const FxtRecord& record : file.records) out += to_text(file, record) + '\n';
    return out + summary_text(file);
}

std::string to_text_with_words(const FxtFile& file, std::span<const std::byte> bytes) {
    std::string out;
    for (const FxtRecord& record : file.records) {
        out += to_text(file, record) + '\n';
        out += words_text(bytes.subspan(static_cast<size_t>(record.offset),
                                        static_cast<size_t>(record.words) * 8));
    }
    return out + summary_text(file);
}

std::string counts_text(const FxtCounts& counts) {
    std::string out;
    for (size_t i = 0; i < kFxtFaults; ++i) {
        if (counts.faults[i] == 0) continue;
        out += fmt::format("{}: {}\n", name_of(FxtFault(i)), counts.faults[i]);
    }
    return out;
}

}  // namespace tracer::test
