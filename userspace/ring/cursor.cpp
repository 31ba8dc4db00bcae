// SPDX-License-Identifier: Apache-2.0
//
// Reading rings that are being written. A stretch of a ring is copied out first; then head is read
// again: what it has passed by then may have been overwritten during the copy and is lost, the rest
// is whole. Records are taken apart in the copy. A length that leaves the copy means that the ring
// makes no sense up to its tail, which is skipped and told; head and tail themselves are only
// believed as far as the ring is long. Losses are kept until the next event, whose sequence says
// how many events they were. Everything behind tracer/ring/cursor.h comes here.
#include "ring/cursor_impl.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <sys/stat.h>

#include <fmt/format.h>

namespace tracer::ring {
namespace {

constexpr size_t kHeaderWords = sizeof(tr_ring_header) / sizeof(uint64_t);
constexpr size_t kEventsWord = offsetof(tr_ring_header, events) / sizeof(uint64_t);
constexpr size_t kDroppedWord = offsetof(tr_ring_header, dropped) / sizeof(uint64_t);
// Copied at once: a record always fits, and one system call serves some thousand of them.
constexpr uint64_t kCopyWordsMin = 1024;
constexpr uint64_t kCopyWordsMax = 8192;
static_assert(kCopyWordsMin > TR_RING_LENGTH_MAX);
// Of the mean record of OCaml programs, fillers included, where none was read yet.
constexpr double kWordsPerEvent = 2.2;
// In the same order as the file's numbers.
static_assert(static_cast<int>(UserType::span) == TR_RING_REGISTERED_SPAN);
static_assert(static_cast<int>(UserType::custom) == TR_RING_REGISTERED_CUSTOM);
// Our own rings' phases are those of this version.
constexpr OcamlVersions kOwnVersions{4, OcamlVersions::kNewest};

std::string text_of(const char* text, size_t bytes_max) {
    return {text, strnlen(text, bytes_max)};
}

tl::unexpected<Error> fail_cut_short() {
    return fail(ErrorCode::bad_input, "the file of rings was cut short while it was read");
}

// True while a callback may be running, whichever way it is left.
class Polling {
public:
    explicit Polling(bool& flag) : flag_(flag) { flag_ = true; }
    ~Polling() { flag_ = false; }
    Polling(const Polling&) = delete;
    Polling& operator=(const Polling&) = delete;

private:
    bool& flag_;
};

}  // namespace

Status Cursor::Impl::begin() {
    bool is_restart = false;
    TR_TRY(look(is_restart));
    if (!layout_) return {};
    place_all(options_.start);
    return {};
}

// Reads what can have changed for all rings at once.
Status Cursor::Impl::look(bool& is_restart) {
    MetadataWords metadata{};
    if (!source_->read(0, metadata)) {
        if (layout_) return fail_cut_short();
        // Created, but not made as long as it will be.
        if (source_->size() == 0) return {};
        return fail(ErrorCode::bad_input, "not a file of rings: too short");
    }
    const bool was_ready = layout_.has_value();
    // The next producer has just begun with the file: what there was to read of the last one is
    // gone, and what it writes is not there yet.
    if (was_ready && metadata == MetadataWords{}) return {};
    if (!was_ready || metadata != metadata_) TR_TRY(adopt(metadata));
    if (!layout_) return {};
    const bool is_other_file = was_ready && metadata != metadata_;
    metadata_ = metadata;
    TR_TRY(read_headers());
    is_restart = is_other_file || (was_ready && has_begun_anew());
    if (is_restart || !was_ready) read_producer();
    refresh_producer();
    if (is_restart) {
        first_record_.reset();
        user_names_.clear();
    }
    if (is_restart || !was_ready) {
        // What came before the metadata was valid is new to everybody.
        place_all(Start::oldest);
        static_cast<void>(is_first_record_other());
    }
    return {};
}

Status Cursor::Impl::adopt(const MetadataWords& metadata) {
    TR_ASSIGN(auto layout, check_layout(metadata, source_->size()));
    if (!layout) return {};
    layout_ = layout;
    headers_.resize(layout->ring_count * kHeaderWords);
    // The largest copy, but no more than a ring is long.
    buffer_.resize(std::min(kCopyWordsMax, layout->ring_words));
    return {};
}

Status Cursor::Impl::read_headers() {
    if (!source_->read(layout_->header_offset(0), headers_)) return fail_cut_short();
    return {};
}

// Head and tail only grow during one program's life, and its first record stays what it is until
// it is overwritten.
bool Cursor::Impl::has_begun_anew() {
    for (uint32_t ring = 0; ring < layout_->ring_count; ++ring) {
        const uint64_t head = headers_[ring * kHeaderWords];
        const uint64_t tail = headers_[ring * kHeaderWords + 1];
        if (head < places_[ring].head || tail < places_[ring].tail) return true;
    }
    return is_first_record_other();
}

bool Cursor::Impl::is_first_record_other() {
    const uint64_t tail = headers_[1];
    if (headers_[0] != 0 || tail < 2 || layout_->ring_words < 2) return false;
    std::array<uint64_t, 2> words{};
    std::array<uint64_t, 1> head{};
    if (!source_->read(layout_->word_offset(0, 0), words) ||
        !source_->read(layout_->header_offset(0), head) || head[0] != 0) {
        return false;
    }
    const bool is_other = first_record_ && *first_record_ != words;
    first_record_ = words;
    return is_other;
}

void Cursor::Impl::read_producer() {
    producer_ = {
        .is_ready = true, .ring_count = layout_->ring_count, .ring_words = layout_->ring_words};
    OcamlVersions versions = options_.versions;
    if (const auto trailer = read_trailer(*source_, *layout_)) {
        producer_.has_sequences = true;
        producer_.runtime = text_of(trailer->runtime, sizeof(trailer->runtime));
        producer_.pid = trailer->pid;
        producer_.monotonic_ns = trailer->monotonic_ns;
        producer_.realtime_ns = trailer->realtime_ns;
        producer_.boottime_ns = trailer->boottime_ns;
        producer_.is_clock_counted = trailer->clock == TR_RING_CLOCK_COUNTED;
        versions = kOwnVersions;
    }
    evidence_ = VersionEvidence(versions, layout_->names_offset != 0, layout_->ring_count);
    producer_.versions = evidence_.versions();
}

// What our own producers go on to tell.
void Cursor::Impl::refresh_producer() {
    if (!producer_.has_sequences) return;
    const auto trailer = read_trailer(*source_, *layout_);
    if (!trailer) return;
    producer_.is_stopped = trailer->state == TR_RING_STOPPED;
    producer_.events_missing = trailer->rings_missing;
    producer_.events_dropped = 0;
    for (uint32_t ring = 0; ring < layout_->ring_count; ++ring) {
        producer_.events_dropped += headers_[ring * kHeaderWords + kDroppedWord];
    }
}

void Cursor::Impl::place_all(Start start) {
    places_.assign(layout_->ring_count, {});
    for (uint32_t ring = 0; ring < layout_->ring_count; ++ring) {
        RingPlace& place = places_[ring];
        place.head = headers_[ring * kHeaderWords];
        place.tail = headers_[ring * kHeaderWords + 1];
        if (start == Start::now) {
            place.position = place.tail;
        }
        // Of a ring that nobody has used the first event is the first; of others, from now on, it
        // is not known without a doubt while they are written to.
        if (place.position == 0) place.has_sequence = producer_.has_sequences;
    }
}

void Cursor::Impl::measure_fill(PollResult& result) const {
    const auto words = static_cast<double>(layout_->ring_words);
    for (const RingPlace& place : places_) {
        if (place.tail <= place.position) continue;
        const double unread = static_cast<double>(place.tail - place.position);
        result.fill = std::max(result.fill, std::min(1.0, unread / words));
    }
}

Result<PollResult> Cursor::Impl::poll(Visitor& visitor, size_t events_max) {
    if (is_polling_) {
        return fail(ErrorCode::usage, "a cursor is polled by its own callback");
    }
    const Polling polling(is_polling_);
    Pass pass{.visitor = visitor, .events_max = events_max, .result = {}};
    bool is_restart = false;
    TR_TRY(look(is_restart));
    if (!layout_) return pass.result;
    pass.result.is_ready = true;
    for (uint32_t ring = 0; ring < layout_->ring_count; ++ring) {
        places_[ring].head = headers_[ring * kHeaderWords];
        places_[ring].tail = headers_[ring * kHeaderWords + 1];
    }
    measure_fill(pass.result);
    if (is_restart && visitor.on_restart() == Flow::stop) pass.result.is_stopped = true;
    const uint32_t first = next_ring_ % layout_->ring_count;
    for (uint32_t i = 0; i < layout_->ring_count && !pass.is_over(); ++i) {
        const uint32_t ring = (first + i) % layout_->ring_count;
        if (places_[ring].position == places_[ring].tail) continue;
        next_ring_ = ring + 1;
        TR_TRY(read_ring(ring, pass));
    }
    return pass.result;
}

// Up to the tail that poll() saw. Each round moves the position on, by at most a ring's length in
// all, or ends.
Status Cursor::Impl::read_ring(uint32_t ring, Pass& pass) {
    RingPlace& place = places_[ring];
    while (place.position < place.tail && !pass.is_over()) {
        TR_ASSIGN(const Copied copied, copy(ring, pass));
        deliver_copied(ring, copied, pass);
    }
    return {};
}

Result<Cursor::Impl::Copied> Cursor::Impl::copy(uint32_t ring, const Pass& pass) {
    RingPlace& place = places_[ring];
    const auto skip_what_head_passed = [&]() -> Status {
        std::array<uint64_t, 1> head{};
        if (!source_->read(layout_->header_offset(ring), head)) return fail_cut_short();
        place.head = std::max(place.head, head[0]);
        if (place.head > place.position) skip_to(place, place.head, false);
        return {};
    };
    if (place.head > place.position || place.tail - place.position > layout_->ring_words) {
        TR_TRY(skip_what_head_passed());
        if (place.position >= place.tail) return Copied{};
        if (place.tail - place.position > layout_->ring_words) {
            skip_to(place, place.tail, true);
            return Copied{};
        }
    }
    const uint64_t in_ring = place.position & (layout_->ring_words - 1);
    const uint64_t wanted =
        (pass.events_max - pass.result.events) > kCopyWordsMax / 4 ? kCopyWordsMax : kCopyWordsMin;
    const uint64_t count = std::min({place.tail - place.position, layout_->ring_words - in_ring,
                                     wanted, uint64_t{buffer_.size()}});
    const auto words = std::span(buffer_).first(count);
    const uint64_t begin = place.position;
    if (!source_->read(layout_->word_offset(ring, begin), words)) return fail_cut_short();
    TR_TRY(skip_what_head_passed());
    return Copied{begin, words};
}

void Cursor::Impl::deliver_copied(uint32_t ring, const Copied& copied, Pass& pass) {
    RingPlace& place = places_[ring];
    const uint64_t end = copied.begin + copied.words.size();
    const bool reaches_limit =
        end == place.tail || (end & (layout_->ring_words - 1)) == 0;  // nothing may go beyond
    while (place.position < end && !pass.is_over()) {
        const auto rest = copied.words.subspan(place.position - copied.begin);
        const RecordHeader header(rest.front());
        const bool is_too_short = header.words < (header.is_filler() ? 1u : 2u);
        if (is_too_short || (header.words > rest.size() && reaches_limit)) {
            skip_to(place, place.tail, true);
            return;
        }
        // The rest of this one is in the next copy.
        if (header.words > rest.size()) return;
        if (header.is_filler()) {
            place.position += header.words;
            place.words_read += header.words;
            pass.result.words += header.words;
            continue;
        }
        deliver(ring, header, rest.first(header.words), pass);
    }
}

void Cursor::Impl::deliver(uint32_t ring,
                           const RecordHeader& header,
                           std::span<const uint64_t> record,
                           Pass& pass) {
    RingPlace& place = places_[ring];
    Event event = make_event(header, record);
    event.ring = ring;
    if (!producer_.has_sequences) event.sequence = 0;
    // A damaged time would break the order that readers rely on.
    event.time_ns = std::max(event.time_ns, place.last_ns);
    const bool has_gap = producer_.has_sequences && place.has_sequence &&
                         event.sequence != ((place.sequence + 1) & TR_RING_SEQUENCE_MASK);
    if (place.lost_words != 0 || has_gap) {
        tell_lost(ring, &event, pass);
        // The event itself was not told and comes again.
        if (pass.result.is_stopped) return;
    }
    place.position += header.words;
    place.words_read += header.words;
    place.events_read += 1;
    place.last_ns = event.time_ns;
    place.sequence = event.sequence;
    place.has_sequence = producer_.has_sequences;
    evidence_.see(event);
    producer_.versions = evidence_.versions();
    pass.result.events += 1;
    pass.result.words += header.words;
    if (pass.visitor.on_event(event) == Flow::stop) pass.result.is_stopped = true;
}

void Cursor::Impl::tell_lost(uint32_t ring, const Event* next, Pass& pass) {
    const Lost lost = settle_lost(ring, next);
    evidence_.see_loss(ring);
    pass.result.losses += 1;
    pass.result.lost_words += lost.words;
    if (pass.visitor.on_lost(lost) == Flow::stop) pass.result.is_stopped = true;
}

// The ring's loss, told from here on.
Lost Cursor::Impl::settle_lost(uint32_t ring, const Event* next) {
    RingPlace& place = places_[ring];
    Lost lost{.ring = ring,
              .words = place.lost_words,
              .is_malformed = place.is_malformed,
              .begin_ns = place.last_ns,
              .end_ns = next != nullptr ? next->time_ns : 0};
    if (next != nullptr && producer_.has_sequences && place.has_sequence) {
        lost.events = (next->sequence - place.sequence - 1) & TR_RING_SEQUENCE_MASK;
        lost.is_exact = true;
        place.sequence = (next->sequence - 1) & TR_RING_SEQUENCE_MASK;
    } else if (next == nullptr && producer_.has_sequences && place.has_sequence) {
        const uint64_t written = headers_[ring * kHeaderWords + kEventsWord];
        lost.events = (written - place.sequence) & TR_RING_SEQUENCE_MASK;
        lost.is_exact = true;
        place.sequence = written & TR_RING_SEQUENCE_MASK;
    } else {
        const double words_per_event =
            place.events_read == 0
                ? kWordsPerEvent
                : static_cast<double>(place.words_read) / static_cast<double>(place.events_read);
        const double events = static_cast<double>(place.lost_words) / words_per_event;
        lost.events = std::max(uint64_t{1}, static_cast<uint64_t>(std::round(events)));
        // An unknown number is behind: the next event's sequence cannot be compared with it.
        place.has_sequence = false;
    }
    place.lost_words = 0;
    place.is_malformed = false;
    return lost;
}

void Cursor::Impl::skip_to(RingPlace& place, uint64_t position, bool is_malformed) {
    place.lost_words += position - place.position;
    place.is_malformed |= is_malformed;
    place.position = position;
}

void Cursor::Impl::finish(Visitor& visitor) {
    Pass pass{.visitor = visitor, .events_max = SIZE_MAX, .result = {}};
    for (uint32_t ring = 0; ring < places_.size() && !pass.result.is_stopped; ++ring) {
        if (places_[ring].lost_words != 0) tell_lost(ring, nullptr, pass);
    }
}

std::string_view Cursor::Impl::numbered(std::string_view kind, uint32_t id) {
    numbered_ = fmt::format("{}#{}", kind, id);
    return numbered_;
}

std::string_view Cursor::Impl::name_of(const Event& event) {
    std::string_view name;
    std::string_view kind;
    switch (event.kind) {
        case EventKind::lifecycle:
            name = lifecycle_name(event.id);
            kind = "lifecycle";
            break;
        case EventKind::begin:
        case EventKind::end:
            name = phase_name(producer_.versions, event.id);
            kind = "phase";
            break;
        case EventKind::counter:
            name = counter_name(event.id);
            kind = "counter";
            break;
        case EventKind::alloc:
            return "alloc";
        case EventKind::user_unit:
        case EventKind::user_int:
        case EventKind::user_begin:
        case EventKind::user_end:
        case EventKind::user_custom:
            name = user_name(event.id);
            kind = "user";
            break;
        case EventKind::unknown:
            return numbered(event.is_user ? "user" : "unknown", event.id);
    }
    return name.empty() ? numbered(kind, event.id) : name;
}

// Written by the producer at any time, also after the first event that has it.
std::string_view Cursor::Impl::user_name(uint32_t id) {
    if (const auto known = user_names_.find(id); known != user_names_.end()) return known->second;
    if (!layout_ || layout_->names_offset == 0) return {};
    std::array<uint64_t, TR_RING_NAME_BYTES / sizeof(uint64_t)> words{};
    if (!source_->read(layout_->names_offset + uint64_t{id} * TR_RING_NAME_BYTES, words)) return {};
    const auto text = std::bit_cast<std::array<char, TR_RING_NAME_BYTES>>(words);
    std::string name = text_of(text.data(), TR_RING_NAME_BYTES - 1);
    if (name.empty()) return {};
    return user_names_.emplace(id, std::move(name)).first->second;
}

// One byte an id; empty: the file has none.
std::vector<std::byte> Cursor::Impl::registered_types() const {
    const auto trailer = read_trailer(*source_, *layout_);
    std::array<uint64_t, TR_RING_TYPES_BYTES / sizeof(uint64_t)> words{};
    if (!trailer || trailer->minor < 1 ||
        !source_->read(layout_->trailer_offset + trailer->bytes, words)) {
        return {};
    }
    const auto bytes = std::as_bytes(std::span(words));
    return {bytes.begin(), bytes.end()};
}

std::vector<UserEvent> Cursor::Impl::user_events() const {
    std::vector<UserEvent> events;
    if (!layout_ || layout_->names_offset == 0) return events;
    const std::vector<std::byte> types = registered_types();
    constexpr uint32_t kNamesAtOnce = 64;
    std::array<uint64_t, kNamesAtOnce * TR_RING_NAME_BYTES / sizeof(uint64_t)> words{};
    for (uint32_t first = 0; first < TR_RING_NAMES; first += kNamesAtOnce) {
        if (!source_->read(layout_->names_offset + uint64_t{first} * TR_RING_NAME_BYTES, words)) {
            break;
        }
        const auto names = std::bit_cast<std::array<char, sizeof(words)>>(words);
        for (uint32_t id = first; id < first + kNamesAtOnce; ++id) {
            // OCaml's ids have holes.
            std::string name =
                text_of(&names[(id - first) * TR_RING_NAME_BYTES], TR_RING_NAME_BYTES - 1);
            if (name.empty()) continue;
            const auto type = types.empty() ? uint8_t{0} : std::to_integer<uint8_t>(types[id]);
            events.push_back({.id = id,
                              .type = type <= TR_RING_REGISTERED_CUSTOM
                                          ? static_cast<UserType>(type)
                                          : UserType::unknown,
                              .name = std::move(name)});
        }
    }
    return events;
}

// The producer stores since when first, and 0 for whom before; read twice, so as not to mix two.
RingOwner Cursor::Impl::owner_of(uint32_t ring) const {
    if (!layout_ || !producer_.has_sequences || ring >= layout_->ring_count) return {};
    std::array<uint64_t, kHeaderWords> words{};
    std::array<uint64_t, kHeaderWords> again{};
    const uint64_t offset = layout_->header_offset(ring);
    if (!source_->read(offset, words) || !source_->read(offset, again)) return {};
    const auto header = std::bit_cast<tr_ring_header>(words);
    const auto later = std::bit_cast<tr_ring_header>(again);
    if (header.owner_tid != later.owner_tid || header.claimed_ns != later.claimed_ns) return {};
    return {.tid = header.owner_tid, .since_ns = header.claimed_ns};
}

std::string_view to_text(UserType type) {
    switch (type) {
        case UserType::unknown:
            return "unknown";
        case UserType::unit:
            return "unit";
        case UserType::number:
            return "int";
        case UserType::span:
            return "span";
        case UserType::custom:
            return "custom";
    }
    return "unknown";
}

Cursor::Cursor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cursor::~Cursor() = default;
Cursor::Cursor(Cursor&& other) noexcept = default;
Cursor& Cursor::operator=(Cursor&& other) noexcept = default;

Result<Cursor> Cursor::over(std::span<const std::byte> memory, const CursorOptions& options) {
    if (reinterpret_cast<uintptr_t>(memory.data()) % alignof(uint64_t) != 0) {
        return fail(ErrorCode::usage, "memory of rings that is not aligned to 8 bytes");
    }
    auto impl = std::make_unique<Impl>(std::make_unique<MemorySource>(memory), options);
    TR_TRY(impl->begin());
    return Cursor(std::move(impl));
}

Result<Cursor> Cursor::open_fd(UniqueFd fd, const CursorOptions& options) {
    struct stat status {};
    if (fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return fail(ErrorCode::bad_input, "not a file of rings: no regular file");
    }
    auto impl = std::make_unique<Impl>(std::make_unique<FileSource>(std::move(fd)), options);
    TR_TRY(impl->begin());
    return Cursor(std::move(impl));
}

Result<PollResult> Cursor::poll(Visitor& visitor, size_t events_max) {
    return impl_->poll(visitor, events_max);
}

void Cursor::finish(Visitor& visitor) {
    impl_->finish(visitor);
}

std::string_view Cursor::name_of(const Event& event) {
    return impl_->name_of(event);
}

std::vector<UserEvent> Cursor::user_events() const {
    return impl_->user_events();
}

RingOwner Cursor::owner_of(uint32_t ring) const {
    return impl_->owner_of(ring);
}

const Producer& Cursor::producer() const {
    return impl_->producer();
}

uint64_t PollPace::next_ns(const PollResult& polled) {
    constexpr double kGoal = 0.1;
    const double ratio = polled.fill > 0 ? kGoal / polled.fill : 2.0;
    // At most doubled, so that one quiet moment costs little; shortened at once.
    const double next = static_cast<double>(wait_ns_) * std::min(ratio, 2.0);
    wait_ns_ = std::clamp(static_cast<uint64_t>(next), kLeastNs, kMostNs);
    return wait_ns_;
}

}  // namespace tracer::ring
