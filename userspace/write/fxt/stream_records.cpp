// SPDX-License-Identifier: Apache-2.0
//
// The records of a Fuchsia trace that are not events of compile-time types: events put together at
// run time, objects, scheduling, logs, blobs; and the shortening of texts. Headers and limits are
// those of words.h; what records with names have in common is Stream::write_record.
#include "tracer/write/fxt/stream.h"
#include "write/text.h"

#include <algorithm>

namespace tracer::fxt {
namespace {

using Arguments = std::span<const Argument>;

void write_all(Record& record, Arguments arguments) {
    for (const Argument& argument : arguments) argument.write(record);
}

void write_ids(Record& record, const ThreadRef& thread) {
    record.word(thread.ids().process);
    record.word(thread.ids().thread);
}

// Shortens `text` to what one string may have; 1 if it had more.
size_t shorten_text(StringRef& ref) {
    const std::string_view text = ref.text();
    if (text.size() <= kStringBytesMax) return 0;
    ref = utf8_prefix(text, kStringBytesMax);
    return 1;
}

size_t text_words(const Argument& argument) {
    return argument.type() == ArgumentType::string ? argument.text().words() : 0;
}

}  // namespace

template <typename Spell>
Outcome Stream::write_record(const Size& size,
                             const Names& names,
                             std::span<const Argument> arguments,
                             const Spell& spell) {
    const auto words = measure(size, names, arguments);
    if (!words) [[unlikely]] {
        const bool can_cut =
            options_.cut_long_strings &&
            (words.error() == Fault::string_too_long || words.error() == Fault::record_too_long);
        return can_cut ? write_cut(size, names, arguments, spell) : refuse(words.error());
    }
    Record record(window_, *words);
    if (!record.has_room()) return refuse(Fault::no_room);
    spell(record, *words, names, arguments);
    record.commit();
    return {};
}

template <typename Spell>
Outcome Stream::write_cut(const Size& size,
                          Names names,
                          std::span<const Argument> arguments,
                          const Spell& spell) {
    ArgumentList list;
    for (const Argument& argument : arguments) static_cast<void>(list.add(argument));
    const size_t cut = shorten(size, names, list.view());
    const auto words = measure(size, names, list.view());
    if (!words) return refuse(words.error());
    Record record(window_, *words);
    if (!record.has_room()) return refuse(Fault::no_room);
    spell(record, *words, names, list.view());
    record.commit();
    counters_.strings_cut += cut;
    return Outcome::written_cut();
}

tl::expected<size_t, Fault> Stream::measure(const Size& size,
                                            const Names& names,
                                            std::span<const Argument> arguments) {
    Fault fault = strings_.use(names.category);
    if (fault == Fault::none) fault = strings_.use(names.name);
    size_t words = size.fixed_words + names.category.words() + names.name.words();
    for (const Argument& argument : arguments) {
        if (fault == Fault::none) fault = strings_.use(argument.name());
        if (fault == Fault::none && argument.type() == ArgumentType::string) {
            fault = strings_.use(argument.text());
        }
        words += argument.words();
    }
    if (fault == Fault::none && words > size.words_max) fault = Fault::record_too_long;
    if (fault != Fault::none) return tl::unexpected(fault);
    return words;
}

size_t Stream::shorten(const Size& size, Names& names, std::span<Argument> arguments) {
    size_t cut = shorten_text(names.category) + shorten_text(names.name);
    size_t words = size.fixed_words + names.category.words() + names.name.words();
    for (Argument& argument : arguments) {
        StringRef name = argument.name();
        StringRef text = argument.text();
        cut += shorten_text(name);
        if (argument.type() == ArgumentType::string) cut += shorten_text(text);
        argument.set_name(name);
        argument.set_text(text);
        words += argument.words();
    }
    // Each round takes from the longest string value, so at most one round a value is needed.
    for (size_t round = 0; round < arguments.size() && words > size.words_max; ++round) {
        Argument& longest = *std::max_element(
            arguments.begin(), arguments.end(),
            [](const Argument& a, const Argument& b) { return text_words(a) < text_words(b); });
        const size_t old_words = text_words(longest);
        if (old_words == 0) break;
        const size_t kept_words = old_words - std::min(old_words, words - size.words_max);
        longest.set_text(utf8_prefix(longest.text().text(), kept_words * kWordBytes));
        words = words - old_words + text_words(longest);
        cut += 1;
    }
    return cut;
}

Outcome Stream::event(const Event& event, std::span<const Argument> arguments) {
    if (arguments.size() > kArgumentsMax) return refuse(Fault::too_many_arguments);
    if (event.type > EventType::flow_end) return refuse(Fault::wrong_type);
    if (event.type == EventType::counter &&
        !std::all_of(arguments.begin(), arguments.end(),
                     [](const Argument& it) { return can_be_counted(it.type()); })) {
        return refuse(Fault::wrong_type);
    }
    if (event.type == EventType::duration_complete && event.last_word < event.time) {
        return refuse(Fault::end_before_start);
    }
    if (!is_ready()) return refuse(Fault::no_room);
    const auto slot = threads_.use(window_, event.thread);
    if (!slot) return refuse(slot.error());
    const bool has_last_word = trailing_words(event.type) != 0;
    return write_record(
        {kEventWords + inline_thread_words(*slot) + (has_last_word ? 1 : 0)},
        {event.category, event.name}, arguments,
        [&](Record& record, size_t words, const Names& names, Arguments list) {
            record.word(event_header(event.type, words, arguments.size(), *slot,
                                     event_names(names.category.bits(), names.name.bits())));
            record.word(event.time);
            if (*slot == 0) write_ids(record, event.thread);
            record.text_of(names.category);
            record.text_of(names.name);
            write_all(record, list);
            if (has_last_word) record.word(event.last_word);
        });
}

Outcome Stream::name_process(uint64_t process, const StringRef& name) {
    const Outcome outcome = kernel_object(ObjectType::process, process, name);
    if (outcome) remember({ObjectType::process, process}, name, 0);
    return outcome;
}

Outcome Stream::name_thread(const ThreadIds& ids, const StringRef& name) {
    const Argument process[] = {
        arg(intern("process").value_or("process"), Koid{ids.process}),
    };
    const Outcome outcome = kernel_object(ObjectType::thread, ids.thread, name, process);
    if (outcome) remember({ObjectType::thread, ids.thread}, name, ids.process);
    return outcome;
}

Outcome Stream::kernel_object(ObjectType type,
                              uint64_t id,
                              const StringRef& name,
                              std::span<const Argument> arguments) {
    if (arguments.size() > kArgumentsMax) return refuse(Fault::too_many_arguments);
    if (!is_ready()) return refuse(Fault::no_room);
    return write_record(
        {kKernelObjectWords}, {{}, name}, arguments,
        [&](Record& record, size_t words, const Names& names, Arguments list) {
            record.word(kernel_object_header(type, words, names.name.bits(), arguments.size()));
            record.word(id);
            record.text_of(names.name);
            write_all(record, list);
        });
}

Outcome Stream::userspace_object(const ThreadRef& process,
                                 uint64_t address,
                                 const StringRef& name,
                                 std::span<const Argument> arguments) {
    if (arguments.size() > kArgumentsMax) return refuse(Fault::too_many_arguments);
    if (!is_ready()) return refuse(Fault::no_room);
    const auto slot = threads_.use(window_, process);
    if (!slot) return refuse(slot.error());
    const size_t fixed_words = kUserspaceObjectWords + (*slot == 0 ? 1 : 0);
    return write_record(
        {fixed_words}, {{}, name}, arguments,
        [&](Record& record, size_t words, const Names& names, Arguments list) {
            record.word(userspace_object_header(words, *slot, names.name.bits(), arguments.size()));
            record.word(address);
            if (*slot == 0) record.word(process.ids().process);
            record.text_of(names.name);
            write_all(record, list);
        });
}

Outcome Stream::context_switch(const Switch& event, std::span<const Argument> arguments) {
    if (arguments.size() > kArgumentsMax) return refuse(Fault::too_many_arguments);
    if (event.cpu > kCpuMax) return refuse(Fault::index_out_of_range);
    if (!is_ready()) return refuse(Fault::no_room);
    return write_record(
        {kSwitchWords}, {}, arguments,
        [&](Record& record, size_t words, const Names& /*names*/, Arguments list) {
            record.word(switch_header(words, arguments.size(), event.cpu, event.out_state));
            record.word(event.time);
            record.word(event.out);
            record.word(event.in);
            write_all(record, list);
        });
}

Outcome Stream::wakeup(uint16_t cpu,
                       uint64_t time,
                       uint64_t thread,
                       std::span<const Argument> arguments) {
    if (arguments.size() > kArgumentsMax) return refuse(Fault::too_many_arguments);
    if (cpu > kCpuMax) return refuse(Fault::index_out_of_range);
    if (!is_ready()) return refuse(Fault::no_room);
    return write_record({kWakeupWords}, {}, arguments,
                        [&](Record& record, size_t words, const Names& /*names*/, Arguments list) {
                            record.word(wakeup_header(words, arguments.size(), cpu));
                            record.word(time);
                            record.word(thread);
                            write_all(record, list);
                        });
}

Outcome Stream::legacy_switch(const LegacySwitch& event) {
    if (!is_ready()) return refuse(Fault::no_room);
    const auto out = threads_.use(window_, event.out);
    if (!out) return refuse(out.error());
    const auto in = threads_.use(window_, event.in);
    if (!in) return refuse(in.error());
    // Where one slot is all that is left, the incoming thread has just taken it.
    const bool is_taken = *out == *in && event.out.ids() != event.in.ids();
    return write_legacy_switch(event, is_taken ? uint8_t{0} : *out, *in);
}

Outcome Stream::write_legacy_switch(const LegacySwitch& event, uint8_t out, uint8_t in) {
    const size_t words = kLegacySwitchWords + inline_thread_words(out) + inline_thread_words(in);
    Record record(window_, words);
    if (!record.has_room()) return refuse(Fault::no_room);
    record.word(legacy_switch_header(words, event.cpu, event.out_state, {out, event.out_priority},
                                     {in, event.in_priority}));
    record.word(event.time);
    for (const auto& [slot, thread] : {std::pair(out, event.out), std::pair(in, event.in)}) {
        if (slot == 0) write_ids(record, thread);
    }
    record.commit();
    return {};
}

Outcome Stream::log(const ThreadRef& thread, uint64_t time, std::string_view message) {
    if (!is_ready()) return refuse(Fault::no_room);
    const auto slot = threads_.use(window_, thread);
    if (!slot) return refuse(slot.error());
    return write_record({kLogWords + inline_thread_words(*slot)}, {{}, message}, {},
                        [&](Record& record, size_t words, const Names& names, Arguments) {
                            record.word(log_header(words, names.name.text().size(), *slot));
                            record.word(time);
                            if (*slot == 0) write_ids(record, thread);
                            record.text_of(names.name);
                        });
}

Outcome Stream::blob(BlobType type, const StringRef& name, Bytes bytes) {
    if (bytes.size() > kBlobBytesMax) return refuse(Fault::blob_too_long);
    if (!is_ready()) return refuse(Fault::no_room);
    return write_record({1 + words_of(bytes.size())}, {{}, name}, {},
                        [&](Record& record, size_t words, const Names& names, Arguments) {
                            record.word(blob_header(type, words, names.name.bits(), bytes.size()));
                            record.text_of(names.name);
                            record.bytes(bytes.data(), bytes.size());
                        });
}

namespace {

constexpr size_t kLargeWordsMax = ByteSink::kReserveBytesMax / kWordBytes;

}  // namespace

Outcome Stream::large_blob(const StringRef& category, const StringRef& name, Bytes bytes) {
    if (bytes.size() > ByteSink::kReserveBytesMax) return refuse(Fault::blob_too_long);
    if (!is_ready()) return refuse(Fault::no_room);
    // Header, names, the payload's size.
    return write_record({3 + words_of(bytes.size()), kLargeWordsMax}, {category, name}, {},
                        [&](Record& record, size_t words, const Names& names, Arguments) {
                            record.word(large_blob_header(1, words));
                            record.word(large_blob_refs(names.category.bits(), names.name.bits()));
                            record.text_of(names.category);
                            record.text_of(names.name);
                            record.word(bytes.size());
                            record.bytes(bytes.data(), bytes.size());
                        });
}

Outcome Stream::large_blob(const Event& about, Bytes bytes, std::span<const Argument> arguments) {
    if (arguments.size() > kArgumentsMax) return refuse(Fault::too_many_arguments);
    if (bytes.size() > ByteSink::kReserveBytesMax) return refuse(Fault::blob_too_long);
    if (!is_ready()) return refuse(Fault::no_room);
    const auto slot = threads_.use(window_, about.thread);
    if (!slot) return refuse(slot.error());
    // Header, names, time, the payload's size.
    const size_t fixed_words = 4 + inline_thread_words(*slot) + words_of(bytes.size());
    return write_record({fixed_words, kLargeWordsMax}, {about.category, about.name}, arguments,
                        [&](Record& record, size_t words, const Names& names, Arguments list) {
                            record.word(large_blob_header(0, words));
                            record.word(large_blob_refs(names.category.bits(), names.name.bits(),
                                                        arguments.size(), *slot));
                            record.text_of(names.category);
                            record.text_of(names.name);
                            record.word(about.time);
                            if (*slot == 0) write_ids(record, about.thread);
                            write_all(record, list);
                            record.word(bytes.size());
                            record.bytes(bytes.data(), bytes.size());
                        });
}

}  // namespace tracer::fxt
