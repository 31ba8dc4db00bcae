// SPDX-License-Identifier: Apache-2.0
//
// The life of a Fuchsia trace: header, chunks, sinks, providers, clock, names. The records are in
// stream_records.cpp and, where types are constants, in stream_inline.h. Relies on the tables to
// know what is in the trace already; called by whoever writes a trace, one thread.
#include "tracer/write/fxt/stream.h"

#include "write/text.h"

#include <algorithm>
#include <numeric>

namespace tracer::fxt {
namespace {

// The header names them all in one reservation.
constexpr size_t kProvidersMax = 200;

}  // namespace

Stream::Stream(ByteSink& sink, const StreamOptions& options)
    : window_(sink, options.window_bytes),
      // Counts that cannot be are refused by open(); here they must not break the table.
      strings_(
          std::min(options.string_slots, kStringIndexMax),
          std::min<uint16_t>(options.cached_strings,
                             kStringIndexMax - std::min(options.string_slots, kStringIndexMax))),
      threads_(options.thread_slots),
      options_(options),
      providers_{{options.provider_id, std::string(options.provider_name)}} {
    options_.provider_name = {};
    if (options.clock_base) last_refresh_tick_ = options.clock_base->tick;
    is_valid_ = options.provider_name.size() <= kProviderNameBytesMax &&
                options.ticks_per_second != 0 &&
                options.string_slots + options.cached_strings <= kStringIndexMax;
}

Status Stream::open() {
    if (!is_valid_) {
        return fail(ErrorCode::usage,
                    "a Fuchsia trace has a provider name of at most 255 bytes, ticks per second "
                    "other than 0, and at most 32,767 strings");
    }
    return status_of_catching_up("no room for the trace's header");
}

Status Stream::begin_chunk() {
    is_header_written_ = false;
    for (auto& [id, object] : named_) object.is_written = false;
    restart();
    return status_of_catching_up("no room for the header and names of a chunk");
}

void Stream::restart() {
    strings_.restart();
    threads_.restart();
    fall_behind();
}

void Stream::fall_behind() {
    is_behind_ = true;
    window_.release();
}

Status Stream::switch_sink(ByteSink& sink, SinkStart start) {
    window_.move_to(sink);
    if (start == SinkStart::reads_alone) return begin_chunk();
    return {};
}

void Stream::flush() {
    window_.release();
    window_.sink().flush();
}

bool Stream::refresh_if_due(const ClockBase& now) {
    if (options_.refresh_ticks == 0 || now.tick < last_refresh_tick_ ||
        now.tick - last_refresh_tick_ < options_.refresh_ticks) {
        return false;
    }
    last_refresh_tick_ = now.tick;
    // Without room the clock is as it was, and the flush makes room.
    static_cast<void>(initialization(now));
    flush();
    return true;
}

Status Stream::close() {
    Status status = status_of_catching_up("no room for the end of the trace");
    window_.release();
    return status;
}

Status Stream::status_of_catching_up(const char* what) {
    if (catch_up()) return {};
    TR_TRY(window_.sink().health());
    return fail(ErrorCode::limit, what);
}

bool Stream::catch_up() {
    if (!is_behind_) return true;
    is_behind_ = !(is_valid_ && write_header() && strings_.write_pending(window_) &&
                   threads_.write_pending(window_) && write_names());
    if (is_behind_) window_.release();
    return !is_behind_;
}

// All of it in one reservation: a file has its whole header or none of it.
bool Stream::write_header() {
    if (is_header_written_) return true;
    const size_t words = std::accumulate(
        providers_.begin(), providers_.end(), size_t{1},
        [this](size_t sum, const Provider& provider) {
            return sum + provider_info_words(provider.name.size()) + initialization_words();
        });
    Record record(window_, words);
    if (!record.has_room()) return false;
    record.word(magic_word());
    // Each with its clock, which readers keep by provider; the current one last, so that it is the
    // current one again.
    for (size_t i = 1; i <= providers_.size(); ++i) {
        const Provider& provider = providers_[(current_provider_ + i) % providers_.size()];
        record.word(provider_info_header(provider.id, provider.name.size()));
        record.text(provider.name);
        write_initialization(record);
    }
    record.commit();
    is_header_written_ = true;
    return true;
}

void Stream::remember(const ObjectId& id, const StringRef& name, uint64_t process) {
    named_[id] = {.name = std::string(utf8_prefix(strings_.text_of(name), kStringBytesMax)),
                  .process = process};
}

bool Stream::write_names() {
    for (auto& [id, object] : named_) {
        if (object.is_written) continue;
        if (!write_name(id, object)) return false;
        object.is_written = true;
    }
    return true;
}

bool Stream::write_name(const ObjectId& id, const NamedObject& object) {
    const auto& [type, koid] = id;
    const StringRef name = object.name;
    // Interned when the thread was named first; else all indices were gone.
    const Argument process =
        arg(strings_.intern("process").value_or("process"), Koid{object.process});
    const bool is_thread = type == ObjectType::thread;
    const size_t words = kKernelObjectWords + name.words() + (is_thread ? process.words() : 0);
    Record record(window_, words);
    if (!record.has_room()) return false;
    record.word(kernel_object_header(type, words, name.bits(), is_thread ? 1 : 0));
    record.word(koid);
    record.text_of(name);
    if (is_thread) process.write(record);
    record.commit();
    return true;
}

size_t Stream::initialization_words() const {
    return options_.clock_base ? kInitializationWithBaseWords : kInitializationWords;
}

void Stream::write_initialization(Record& record) const {
    record.word(initialization_header(initialization_words()));
    record.word(options_.ticks_per_second);
    if (!options_.clock_base) return;
    record.word(options_.clock_base->tick);
    record.word(static_cast<uint64_t>(options_.clock_base->wall_ns));
}

Outcome Stream::initialization(const ClockBase& base) {
    if (!is_ready()) return refuse(Fault::no_room);
    Record record(window_, initialization_words());
    if (!record.has_room()) return refuse(Fault::no_room);
    if (options_.clock_base) options_.clock_base = base;
    write_initialization(record);
    record.commit();
    return {};
}

Outcome Stream::provider_info(uint32_t id, std::string_view name) {
    if (name.size() > kProviderNameBytesMax) return refuse(Fault::string_too_long);
    const auto known = std::find_if(providers_.begin(), providers_.end(),
                                    [id](const Provider& it) { return it.id == id; });
    if (known == providers_.end() && providers_.size() == kProvidersMax) {
        return refuse(Fault::table_full);
    }
    if (!is_ready()) return refuse(Fault::no_room);
    // With its clock: readers start a provider at their own default.
    Record record(window_, provider_info_words(name.size()) + initialization_words());
    if (!record.has_room()) return refuse(Fault::no_room);
    record.word(provider_info_header(id, name.size()));
    record.text(name);
    write_initialization(record);
    record.commit();
    current_provider_ = static_cast<size_t>(known - providers_.begin());
    if (known == providers_.end()) {
        providers_.push_back({id, std::string(name)});
    } else {
        known->name = name;
    }
    restart();
    return {};
}

Outcome Stream::provider_section(uint32_t id) {
    const auto known = std::find_if(providers_.begin(), providers_.end(),
                                    [id](const Provider& it) { return it.id == id; });
    if (known == providers_.end()) return refuse(Fault::not_defined);
    if (!is_ready()) return refuse(Fault::no_room);
    Record record(window_, 1);
    if (!record.has_room()) return refuse(Fault::no_room);
    record.word(provider_section_word(id));
    record.commit();
    current_provider_ = static_cast<size_t>(known - providers_.begin());
    restart();
    return {};
}

Outcome Stream::provider_event(uint32_t id, ProviderEvent event) {
    if (!is_ready()) return refuse(Fault::no_room);
    Record record(window_, 1);
    if (!record.has_room()) return refuse(Fault::no_room);
    record.word(provider_event_word(id, event));
    record.commit();
    return {};
}

tl::expected<StringRef, Fault> Stream::intern(std::string_view text) {
    const auto ref = strings_.intern(fit(text));
    if (ref && strings_.has_pending()) {
        fall_behind();
        // Without room it waits; the next record tries again, so there is nothing to report here.
        if (is_header_written_) static_cast<void>(catch_up());
    }
    return ref;
}

tl::expected<StringRef, Fault> Stream::cached(std::string_view text) {
    if (!is_ready()) return tl::unexpected(refuse(Fault::no_room).fault());
    return strings_.cached(window_, fit(text));
}

Outcome Stream::define_string(unsigned slot, std::string_view text) {
    if (!is_ready()) return refuse(Fault::no_room);
    const Outcome outcome = strings_.define_slot(window_, slot, fit(text));
    return outcome ? outcome : refuse(outcome.fault());
}

ThreadRef Stream::thread(const ThreadIds& ids) {
    if (!is_ready()) return ids;
    return threads_.find(window_, ids);
}

tl::expected<ThreadRef, Fault> Stream::pinned_thread(const ThreadIds& ids) {
    if (!is_ready()) return tl::unexpected(refuse(Fault::no_room).fault());
    return threads_.pin(window_, ids);
}

Outcome Stream::define_thread(uint8_t slot, const ThreadIds& ids) {
    if (!is_ready()) return refuse(Fault::no_room);
    const Outcome outcome = threads_.define_slot(window_, slot, ids);
    return outcome ? outcome : refuse(outcome.fault());
}

// `text`, shortened where the stream was told to cut; else as it is, to be refused.
std::string_view Stream::fit(std::string_view text) {
    if (text.size() <= kStringBytesMax || !options_.cut_long_strings) return text;
    counters_.strings_cut += 1;
    return utf8_prefix(text, kStringBytesMax);
}

Outcome Stream::refuse(Fault fault) {
    (fault == Fault::no_room ? counters_.no_room : counters_.refused) += 1;
    return fault;
}

}  // namespace tracer::fxt
