// SPDX-License-Identifier: Apache-2.0
//
// Events as the ghc-events library words them: the words are data of a format that people and tests
// compare, so they are the library's to the letter. Most are a pattern with the fields in the order
// of the payload ({0} is the first); what a pattern cannot say is in the functions above it.
#include "support/eventlog_text.h"

#include "support/eventlog_utf8.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/args.h>
#include <fmt/format.h>

namespace tracer::test {
namespace {

using Id = EventlogId;

struct EventPattern {
    Id id;
    std::string_view pattern;
};

constexpr EventPattern kPatterns[] = {
    {Id::create_thread, "creating thread {0}"},
    {Id::run_thread, "running thread {0}"},
    {Id::thread_runnable, "thread {0} is runnable"},
    {Id::migrate_thread, "migrating thread {0} to cap {1}"},
    {Id::shutdown, "shutting down"},
    {Id::thread_wakeup, "waking up thread {0} on cap {1}"},
    {Id::gc_start, "starting GC"},
    {Id::gc_end, "finished GC"},
    {Id::request_seq_gc, "requesting sequential GC"},
    {Id::request_par_gc, "requesting parallel GC"},
    {Id::create_spark_thread, "creating spark thread {0}"},
    {Id::log_msg, "{0}"},
    {Id::startup, "startup: {0} capabilities"},
    {Id::user_msg, "{0}"},
    {Id::gc_idle, "GC idle"},
    {Id::gc_work, "GC working"},
    {Id::gc_done, "GC done"},
    {Id::version, "compiler version is {0}"},
    {Id::program_invocation, "program invocation: {0}"},
    {Id::capset_delete, "deleted capset {0}"},
    {Id::capset_assign_cap, "assigned cap {1} to capset {0}"},
    {Id::capset_remove_cap, "removed cap {1} from capset {0}"},
    {Id::rts_identifier, "capset {0}: RTS version \"{1}\""},
    {Id::osprocess_pid, "capset {0}: pid {1}"},
    {Id::osprocess_ppid, "capset {0}: parent pid {1}"},
    {Id::spark_counters,
     "spark stats: {0} created, {3} converted, {6} remaining ({2} overflowed, {1} dud, {4} GC'd, "
     "{5} "
     "fizzled)"},
    {Id::spark_create, "spark created"},
    {Id::spark_dud, "dud spark discarded"},
    {Id::spark_overflow, "overflowed spark discarded"},
    {Id::spark_run, "running a local spark"},
    {Id::spark_steal, "stealing a spark from cap {0}"},
    {Id::spark_fizzle, "spark fizzled"},
    {Id::spark_gc, "spark GCed"},
    {Id::intern_string, "Interned string: \"{0}\" with id {1}"},
    {Id::wall_clock_time, "capset {0}: wall clock time {1}s {2}ns (unix epoch)"},
    {Id::thread_label, "thread {0} has label \"{1}\""},
    {Id::cap_create, "created cap {0}"},
    {Id::cap_delete, "deleted cap {0}"},
    {Id::cap_disable, "disabled cap {0}"},
    {Id::cap_enable, "enabled cap {0}"},
    {Id::heap_allocated, "allocated on heap capset {0}: {1} total bytes till now"},
    {Id::heap_size, "size of heap capset {0}: {1} bytes"},
    {Id::heap_live, "live data in heap capset {0}: {1} bytes"},
    {Id::heap_info_ghc,
     "heap stats for heap capset {0}: generations {1}, {2} bytes max heap size, {3} bytes alloc "
     "area "
     "size, {4} bytes mblock size, {5} bytes block size"},
    {Id::gc_global_sync, "all caps stopped for GC"},
    {Id::task_create, "task 0x{0:x} created on cap {1} with OS kernel thread {2}"},
    {Id::task_migrate, "task 0x{0:x} migrated from cap {1} to cap {2}"},
    {Id::task_delete, "task 0x{0:x} deleted"},
    {Id::user_marker, "marker: {0}"},
    {Id::eden_start_receive, "starting to receive"},
    {Id::eden_end_receive, "stop receiving"},
    {Id::create_process, "creating process {0}"},
    {Id::kill_process, "killing process {0}"},
    {Id::assign_thread_to_process, "assigning thread {0} to process {1}"},
    {Id::create_machine, "creating machine {0} at {1}"},
    {Id::kill_machine, "killing machine {0}"},
    {Id::mem_return, "memory returned (mblocks): current({1}) needed({2}) returned({3})"},
    {Id::blocks_size, "blocks size of heap capset {0}: {1} bytes"},
    {Id::perf_name, "perf event {0} named \"{1}\""},
    {Id::perf_tracepoint, "perf event tracepoint {0} reached in OS thread {1}"},
    {Id::heap_prof_sample_begin, "start heap prof sample {0}"},
    {Id::heap_prof_sample_cost_centre,
     "heap prof sample {0}, residency {1}, cost centre stack {2}"},
    {Id::heap_prof_sample_string, "heap prof sample {0}, residency {1}, label {2}"},
    {Id::heap_prof_sample_end, "end prof sample {0}"},
    {Id::heap_bio_prof_sample_begin, "start heap prof sample {0} at time {1}"},
    {Id::prof_sample_cost_centre, "cap no {0}, prof sample {1}, cost centre stack {2}"},
    {Id::prof_begin, "start time profiling, tick interval {0} (ns)"},
    {Id::conc_mark_begin, "concurrent mark began"},
    {Id::conc_mark_end, "concurrent mark ended: marked {0} objects"},
    {Id::conc_sync_begin, "post-mark synchronization began"},
    {Id::conc_sync_end, "post-mark synchronization ended"},
    {Id::conc_sweep_begin, "concurrent sweep began"},
    {Id::conc_sweep_end, "concurrent sweep ended"},
    {Id::conc_upd_rem_set_flush, "update remembered set flushed by {0}"},
    {Id::nonmoving_heap_census,
     "nonmoving heap census {0}: {1} active segments, {2} filled segments, {3} live blocks"},
    {Id::ticky_counter_sample,
     "ticky counter sample {0}: entry count: {1}, {2} allocs, {3} allocd"},
    {Id::ticky_counter_begin_sample, "ticky begin counter sample"},
};

// Valid UTF-8 as it is, other bytes as \xHH.
std::string shown(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto character = first_utf8_character(text);
        if (character) {
            out += text.substr(0, character->bytes);
        } else {
            fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<uint8_t>(text[0]));
        }
        text.remove_prefix(character ? character->bytes : 1);
    }
    return out;
}

// The library takes these for Latin-1.
bool is_latin1(Id id) {
    return id == Id::intern_string || id == Id::version || id == Id::program_invocation;
}

std::string latin1_as_utf8(std::string_view text) {
    std::string out;
    for (const char byte : text) append_utf8(out, static_cast<uint8_t>(byte));
    return out;
}

// Haskell 2010, section 2.6: how `show` writes the control characters.
constexpr std::array<std::string_view, 32> kControlNames = {
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "a",   "b",   "t",   "n",
    "v",   "f",   "r",   "SO",  "SI",  "DLE", "DC1", "DC2", "DC3", "DC4", "NAK",
    "SYN", "ETB", "CAN", "EM",  "SUB", "ESC", "FS",  "GS",  "RS",  "US"};

// A string as Haskell's `show` writes it. "\&" keeps an escape from running into what follows.
std::string haskell_literal(std::string_view text) {
    std::string out = "\"";
    bool after_number = false;
    bool after_so = false;
    while (!text.empty()) {
        const auto character = first_utf8_character(text);
        const uint32_t code = character ? character->code_point : 0xFFFD;
        text.remove_prefix(character ? character->bytes : 1);
        if (after_number && code >= '0' && code <= '9') out += "\\&";
        if (after_so && code == 'H') out += "\\&";
        after_number = code > 0x7F;
        after_so = code == 0x0E;
        if (code < 0x20) {
            fmt::format_to(std::back_inserter(out), "\\{}", kControlNames[code]);
        } else if (code == 0x7F) {
            out += "\\DEL";
        } else if (code > 0x7F) {
            fmt::format_to(std::back_inserter(out), "\\{}", code);
        } else {
            if (code == '"' || code == '\\') out.push_back('\\');
            out.push_back(static_cast<char>(code));
        }
    }
    return out + "\"";
}

std::string strings_text(const EventlogEvent& event) {
    const auto* value = event.find("strings");
    const auto* strings =
        value == nullptr ? nullptr : std::get_if<std::vector<std::string_view>>(value);
    std::vector<std::string> literals;
    if (strings != nullptr) {
        for (const auto string : *strings) literals.push_back(haskell_literal(string));
    }
    // The library takes nothing for one empty string.
    if (literals.empty()) literals.emplace_back("\"\"");
    return fmt::format("[{}]", fmt::join(literals, ","));
}

// Characters that Haskell's isPrint refuses, so that the library shows a dot: controls, formats,
// private use, line separators. Unassigned ones would need Unicode's table and are taken as
// printable.
bool is_printable(uint32_t code) {
    struct Range {
        uint32_t first;
        uint32_t last;
    };
    static constexpr Range kRefused[] = {{0, 0x1F},        {0x7F, 0x9F},       {0xAD, 0xAD},
                                         {0x200B, 0x200F}, {0x2028, 0x202E},   {0x2060, 0x206F},
                                         {0xE000, 0xF8FF}, {0xFEFF, 0xFEFF},   {0xFFF9, 0xFFFB},
                                         {0xFFFE, 0xFFFF}, {0xE0000, 0x10FFFF}};
    return std::none_of(std::begin(kRefused), std::end(kRefused), [&](const Range& range) {
        return code >= range.first && code <= range.last;
    });
}

std::string binary_text(std::string_view bytes) {
    std::string out;
    while (!bytes.empty()) {
        const auto character = first_utf8_character(bytes);
        if (character && is_printable(character->code_point)) {
            out += bytes.substr(0, character->bytes);
        } else {
            out.push_back('.');
        }
        bytes.remove_prefix(character ? character->bytes : 1);
    }
    return out;
}

// 18 is what GHC writes for throwTo; the library's words for it up to 0.20 are of another blocking
// reason that no GHC has any more.
std::string stop_text(const EventlogEvent& event) {
    static constexpr std::string_view kNone = "No stop thread status";
    static constexpr std::array<std::string_view, 21> kStatuses = {
        kNone,
        "heap overflow",
        "stack overflow",
        "thread yielding",
        "thread blocked",
        "thread finished",
        "making a foreign call",
        "blocked on an MVar",
        "blocked on a black hole",
        "blocked on I/O read",
        "blocked on I/O write",
        "blocked on threadDelay",
        "blocked in STM retry",
        "blocked on asyncDoProc",
        "blocked in a foreign call",
        "blocked in a foreign call",
        "blocked in throwTo",
        "thread migrating",
        "waiting for data to be globalised",
        kNone,
        "blocked reading an MVar"};
    const uint64_t status = event.number("status");
    std::string text{status < kStatuses.size() ? kStatuses[status] : kNone};
    if (status == 8)
        text = fmt::format("blocked on black hole owned by thread {}", event.number("info"));
    return fmt::format("stopping thread {} ({})", event.number("thread"), text);
}

std::string capset_text(const EventlogEvent& event) {
    static constexpr std::array<std::string_view, 4> kTypes = {
        "CapsetUnknown", "CapsetCustom", "CapsetOsProcess", "CapsetClockDomain"};
    const uint64_t type = event.number("type");
    return fmt::format("created capset {} of type {}", event.number("capset"),
                       kTypes[type < kTypes.size() ? type : 0]);
}

std::string gc_stats_text(const EventlogEvent& event) {
    std::string text = fmt::format(
        "GC stats for heap capset {}: generation {}, {} bytes copied, {} bytes slop, {} bytes "
        "fragmentation, {} par threads, {} bytes max par copied, {} bytes total par copied",
        event.number("heap_capset"), event.number("generation"), event.number("copied"),
        event.number("slop"), event.number("fragmentation"), event.number("par_threads"),
        event.number("par_max_copied"), event.number("par_total_copied"));
    if (event.find("par_balanced_copied") != nullptr) {
        fmt::format_to(std::back_inserter(text), ", {} bytes balanced par copied",
                       event.number("par_balanced_copied"));
    }
    return text;
}

std::string heap_prof_begin_text(const EventlogEvent& event) {
    static constexpr std::array<std::string_view, 10> kBreakdowns = {
        "",         "cost centre", "module",       "closure description", "type description",
        "retainer", "biography",   "closure type", "info table",          "era"};
    const uint64_t breakdown = event.number("breakdown");
    std::string text = fmt::format("start heap profiling {} at sampling period {} broken down by ",
                                   event.number("profile"), event.number("period_ns"));
    if (breakdown >= 1 && breakdown < kBreakdowns.size()) {
        text += kBreakdowns[breakdown];
    } else {
        fmt::format_to(std::back_inserter(text), "unknown breakdown {}", breakdown);
    }
    std::string filters;
    for (const std::string_view name : {"module", "closure", "type", "cost_centre",
                                        "cost_centre_stack", "retainer", "biography"}) {
        const std::string_view filter = event.text(name);
        if (!filter.empty()) filters += shown(filter) + ", ";
    }
    if (!filters.empty()) text += " filtered by " + filters;
    return text;
}

std::string cost_centre_text(const EventlogEvent& event) {
    const bool is_caf = (event.number("flags") & 1) != 0;
    return fmt::format("cost centre {} {} in {} at {}{}", event.number("cost_centre"),
                       shown(event.text("label")), shown(event.text("module")),
                       shown(event.text("source")), is_caf ? " CAF" : "");
}

std::string perf_counter_text(const EventlogEvent& event) {
    return fmt::format("perf event counter {} incremented by {} in OS thread {}",
                       event.number("perf"), event.number("period") + 1,
                       event.number("kernel_tid"));
}

// The library reads the closure type as a number, and so loses leading zeros and what follows it.
std::string ipe_text(const EventlogEvent& event) {
    const std::string_view type = event.text("closure_type");
    const std::string_view digits = type.substr(0, type.find_first_not_of("0123456789"));
    const size_t first = std::min(digits.find_first_not_of('0'), digits.size());
    const std::string_view number = digits.substr(first);
    return fmt::format("Info Table: {:x}:{}:{} - {}", event.number("info"),
                       number.empty() ? "0" : number, shown(event.text("table")),
                       shown(event.text("source")));
}

std::string ticky_def_text(const EventlogEvent& event) {
    return fmt::format(
        "ticky counter definition {}, arity: {}, def kinds: {}, name: {}, itbl: {:x}",
        event.number("counter"), event.number("arity"), shown(event.text("kinds")),
        shown(event.text("name")), event.number("info"));
}

// The Eden system's messages; their kinds count from 0x50 in the file.
std::string eden_message_text(const EventlogEvent& event) {
    const auto number = [&](std::string_view name) { return event.number(name); };
    const uint64_t tag = number("tag");
    if (event.is(Id::send_message)) {
        return fmt::format(
            "sending message with tag {} from process {}, thread {} to machine {}, process {} on "
            "inport {}",
            tag, number("sender_process"), number("sender_thread"), number("receiver_machine"),
            number("receiver_process"), number("receiver_inport"));
    }
    if (event.is(Id::receive_message)) {
        return fmt::format(
            "receiving message with tag {} at process {}, inport {} from machine {}, process {}, "
            "thread {} with size {}",
            tag, number("receiver_process"), number("receiver_inport"), number("sender_machine"),
            number("sender_process"), number("sender_thread"), number("size"));
    }
    return fmt::format(
        "sending/receiving message with tag {} from process {}, thread {} to process {} on inport "
        "{}",
        tag, number("sender_process"), number("sender_thread"), number("receiver_process"),
        number("receiver_inport"));
}

std::string pattern_text(const EventlogEvent& event) {
    const auto pattern = std::find_if(std::begin(kPatterns), std::end(kPatterns),
                                      [&](const auto& p) { return event.is(p.id); });
    // Events that the library has no words for: it passes over their payload.
    if (pattern == std::end(kPatterns)) return fmt::format("Unknown event type {}", event.id);
    fmt::dynamic_format_arg_store<fmt::format_context> arguments;
    for (const auto& field : event.fields) {
        if (const auto* number = std::get_if<uint64_t>(&field.value)) {
            arguments.push_back(*number);
        } else if (const auto* text = std::get_if<std::string_view>(&field.value)) {
            arguments.push_back(is_latin1(pattern->id) ? latin1_as_utf8(*text) : shown(*text));
        } else if (const auto* stack = std::get_if<std::vector<uint32_t>>(&field.value)) {
            arguments.push_back(fmt::format("{}", fmt::join(*stack, ", ")));
        } else {
            arguments.push_back(strings_text(event));
        }
    }
    return fmt::vformat(pattern->pattern, arguments);
}

// Any text on one line, between quotes.
std::string quoted(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const auto character = first_utf8_character(text);
        const size_t bytes = character ? character->bytes : 1;
        const auto first = static_cast<uint8_t>(text[0]);
        if (!character || !is_printable(character->code_point)) {
            for (const char byte : text.substr(0, bytes)) {
                fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<uint8_t>(byte));
            }
        } else {
            if (first == '"' || first == '\\') out.push_back('\\');
            out += text.substr(0, bytes);
        }
        text.remove_prefix(bytes);
    }
    return out + "\"";
}

struct FieldPrinter {
    std::string operator()(uint64_t number) const { return fmt::format("{}", number); }
    std::string operator()(std::string_view text) const { return quoted(text); }
    std::string operator()(const std::vector<uint32_t>& stack) const {
        return fmt::format("[{}]", fmt::join(stack, ","));
    }
    std::string operator()(const std::vector<std::string_view>& strings) const {
        std::vector<std::string> parts;
        parts.reserve(strings.size());
        for (const auto string : strings) parts.push_back(quoted(string));
        return fmt::format("[{}]", fmt::join(parts, ","));
    }
};

}  // namespace

std::string event_text(const EventlogEvent& event) {
    if (event.decoding == EventlogDecoding::unknown) {
        return fmt::format("Unknown event type {}", event.id);
    }
    if (event.decoding == EventlogDecoding::malformed) {
        return "malformed " + fields_text(event);
    }
    switch (static_cast<EventlogId>(event.id)) {
        case Id::stop_thread:
            return stop_text(event);
        case Id::capset_create:
            return capset_text(event);
        case Id::program_args:
            return fmt::format("capset {}: args: {}", event.number("capset"), strings_text(event));
        case Id::program_env:
            return fmt::format("capset {}: env: {}", event.number("capset"), strings_text(event));
        case Id::gc_stats_ghc:
            return gc_stats_text(event);
        case Id::heap_prof_begin:
            return heap_prof_begin_text(event);
        case Id::heap_prof_cost_centre:
            return cost_centre_text(event);
        case Id::perf_counter:
            return perf_counter_text(event);
        case Id::ipe:
            return ipe_text(event);
        case Id::user_binary_msg:
            return "binary message " + binary_text(event.text("bytes"));
        case Id::ticky_counter_def:
            return ticky_def_text(event);
        case Id::send_message:
        case Id::receive_message:
        case Id::send_receive_local_message:
            return eden_message_text(event);
        default:
            return pattern_text(event);
    }
}

std::string event_line(const EventlogEvent& event) {
    if (event.is(Id::block_marker) && event.decoding == EventlogDecoding::decoded) return {};
    const std::string capability =
        event.capability ? fmt::format("{}", *event.capability) : std::string("-");
    return fmt::format("{} cap={} {}", event.time_ns, capability, event_text(event));
}

std::string event_lines(const EventlogFile& file) {
    std::string out;
    for (const auto& event : file.events) {
        const std::string line = event_line(event);
        if (!line.empty()) out += line + "\n";
    }
    return out;
}

std::string fields_text(const EventlogEvent& event) {
    std::string out{event.name};
    if (event.decoding == EventlogDecoding::unknown)
        fmt::format_to(std::back_inserter(out), " {}", event.id);
    for (const auto& field : event.fields) {
        fmt::format_to(std::back_inserter(out), " {}={}", field.name,
                       std::visit(FieldPrinter{}, field.value));
    }
    return out;
}

std::string problems_text(const EventlogFile& file) {
    std::string out;
    const EventlogReader& reader = file.reader;
    if (reader.fault() != EventlogFault::none) {
        fmt::format_to(std::back_inserter(out), "at {:#x}: {}", reader.offset(),
                       name_of(reader.fault()));
        if (reader.fault() == EventlogFault::undeclared_event) {
            fmt::format_to(std::back_inserter(out), " {}", reader.undeclared_id());
        }
        out += "\n";
    }
    const auto count = [&](std::string_view what, uint64_t number) {
        if (number > 0) fmt::format_to(std::back_inserter(out), "{}: {}\n", what, number);
    };
    const EventlogOddities& odd = reader.oddities();
    if (!reader.header_is_read() && reader.fault() == EventlogFault::none) {
        out += "the header is cut\n";
    }
    count("bytes of an unfinished end", reader.truncated_bytes());
    count("types declared again", odd.repeated_types);
    count("events of unknown form", odd.unknown_events);
    count("events shorter than their fields", odd.malformed_events);
    count("events longer than their fields", odd.extra_bytes_events);
    count("IPE events with a wrong length", odd.ipe_length_faults);
    count("texts that are not UTF-8", odd.texts_not_utf8);
    count("events outside blocks", odd.outside_block_events);
    count("blocks that an event overran", odd.overrun_blocks);
    count("unfinished blocks", odd.unfinished_blocks);
    count("events behind an end marker", odd.after_end_events);
    return out;
}

}  // namespace tracer::test
