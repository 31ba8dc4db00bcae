// SPDX-License-Identifier: Apache-2.0
#include "tracer/ring/cursor.h"

#include "unit/ring/ring_builder.h"
#include "unit/ring/ring_lines.h"

#include <algorithm>
#include <fcntl.h>
#include <functional>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using namespace ring;

constexpr uint32_t kMajor = 6;  // the same number in every version

// Keeps what it is told, short: "B6@10", "lost 4 words 2 events exact".
class Told : public Visitor {
public:
    Flow on_event(const Event& event) override {
        texts.push_back(fmt::format("{}{}@{}", event.kind == EventKind::begin ? "B" : "E", event.id,
                                    event.time_ns));
        if (during) during();
        return texts.size() >= stop_at ? Flow::stop : Flow::go_on;
    }
    Flow on_lost(const Lost& lost) override {
        texts.push_back(fmt::format("lost {} words {} events{}{} {}-{}", lost.words, lost.events,
                                    lost.is_exact ? " exact" : "",
                                    lost.is_malformed ? " malformed" : "", lost.begin_ns,
                                    lost.end_ns));
        return texts.size() >= stop_at ? Flow::stop : Flow::go_on;
    }
    Flow on_restart() override {
        texts.emplace_back("restart");
        return Flow::go_on;
    }
    std::vector<std::string> take() { return std::exchange(texts, {}); }

    std::vector<std::string> texts;
    size_t stop_at = SIZE_MAX;
    std::function<void()> during;
};

using Lines = std::vector<std::string>;

Cursor make_cursor(RingBuilder& rings, const CursorOptions& options = {}) {
    auto cursor = Cursor::over(rings.bytes(), options);
    TR_CHECK(cursor);
    return std::move(*cursor);
}

TEST(Cursor, TellsWhatIsNewSinceTheLastPoll) {
    RingBuilder rings(2, 64, false);
    rings.begin(0, 10, kMajor);
    Cursor cursor = make_cursor(rings);
    Told told;
    EXPECT_EQ(cursor.poll(told)->events, 1u);
    EXPECT_EQ(told.take(), Lines{"B6@10"});
    EXPECT_EQ(cursor.poll(told)->events, 0u);
    rings.end(0, 20, kMajor).begin(1, 15, kMajor);
    EXPECT_EQ(cursor.poll(told)->events, 2u);
    // The ring after the one that it ended in comes first.
    EXPECT_EQ(told.take(), (Lines{"B6@15", "E6@20"}));
}

TEST(Cursor, BeginsNowWhenAskedTo) {
    RingBuilder rings(1, 64, true);
    rings.begin(0, 10, kMajor);
    Cursor cursor = make_cursor(rings, {.start = Start::now});
    Told told;
    EXPECT_EQ(cursor.poll(told)->events, 0u);
    rings.end(0, 20, kMajor);
    EXPECT_EQ(cursor.poll(told)->events, 1u);
    EXPECT_EQ(told.take(), Lines{"E6@20"});
}

TEST(Cursor, TellsLossesExactlyWhereRecordsAreNumbered) {
    RingBuilder rings(1, 16, true);
    for (uint64_t i = 1; i <= 20; ++i) rings.begin(0, i, kMajor);
    Cursor cursor = make_cursor(rings);
    Told told;
    const auto polled = cursor.poll(told);
    // One word stays free: 7 records of 2 words are there.
    EXPECT_EQ(polled->events, 7u);
    EXPECT_EQ(polled->lost_words, 26u);
    EXPECT_EQ(told.take().front(), "lost 26 words 13 events exact 0-14");
    for (uint64_t i = 21; i <= 30; ++i) rings.begin(0, i, kMajor);
    EXPECT_EQ(cursor.poll(told)->events, 7u);
    EXPECT_EQ(told.take().front(), "lost 6 words 3 events exact 20-24");
}

TEST(Cursor, EstimatesLossesOfOcamlFromTheMeanRecord) {
    RingBuilder rings(1, 16, false);
    for (uint64_t i = 1; i <= 7; ++i) rings.begin(0, i, kMajor);
    Cursor cursor = make_cursor(rings);
    Told told;
    EXPECT_EQ(cursor.poll(told)->events, 7u);
    told.take();
    for (uint64_t i = 8; i <= 20; ++i) rings.begin(0, i, kMajor);
    EXPECT_EQ(cursor.poll(told)->events, 7u);
    EXPECT_EQ(told.take().front(), "lost 12 words 6 events 7-14");
}

TEST(Cursor, TellsAtTheEndWhatNoEventFollowed) {
    RingBuilder rings(1, 16, true);
    for (uint64_t i = 1; i <= 3; ++i) rings.begin(0, i, kMajor);
    Cursor cursor = make_cursor(rings);
    Told told;
    cursor.poll(told).value();
    told.take();
    rings.begin(0, 4, kMajor).begin(0, 5, kMajor);
    rings.data(0, rings.tail(0) - 4) = 0;  // a length of nothing
    const auto polled = cursor.poll(told);
    ASSERT_TRUE(polled);
    EXPECT_TRUE(told.take().empty());
    cursor.finish(told);
    EXPECT_EQ(told.take(), Lines{"lost 4 words 2 events exact malformed 3-0"});
    cursor.finish(told);
    EXPECT_TRUE(told.take().empty());
}

TEST(Cursor, GoesOnBehindWhatMakesNoSense) {
    RingBuilder rings(1, 64, true);
    rings.begin(0, 1, kMajor).begin(0, 2, kMajor);
    rings.data(0, 2) = uint64_t{1000} << TR_RING_LENGTH_SHIFT;  // beyond the tail
    Cursor cursor = make_cursor(rings);
    Told told;
    cursor.poll(told).value();
    rings.begin(0, 3, kMajor);
    cursor.poll(told).value();
    EXPECT_EQ(told.take(), (Lines{"B6@1", "lost 2 words 1 events exact malformed 1-3", "B6@3"}));
}

TEST(Cursor, BelievesNoTailBeyondTheRing) {
    for (const uint64_t tail : {uint64_t{65}, uint64_t{1} << 40, UINT64_MAX}) {
        RingBuilder rings(1, 64, false);
        rings.begin(0, 1, kMajor);
        rings.tail(0) = tail;
        Cursor cursor = make_cursor(rings);
        Told told;
        EXPECT_EQ(cursor.poll(told)->events, 0u);
        cursor.finish(told);
        ASSERT_EQ(told.texts.size(), 1u);
        EXPECT_NE(told.texts[0].find("malformed"), std::string::npos);
    }
}

TEST(Cursor, DropsWhatWasOverwrittenDuringTheCopy) {
    RingBuilder rings(1, 64, true);
    for (uint64_t i = 1; i <= 5; ++i) rings.begin(0, i, kMajor);
    Cursor cursor = make_cursor(rings);
    // As a writer does between the copy and the second look at head: the first two are gone.
    rings.data(0, 0) = UINT64_MAX;
    rings.head(0) = 4;
    Told told;
    cursor.poll(told).value();
    EXPECT_EQ(told.take(), (Lines{"lost 4 words 2 events exact 0-3", "B6@3", "B6@4", "B6@5"}));
}

TEST(Cursor, DeliversNoMoreThanAsked) {
    RingBuilder rings(3, 64, false);
    for (uint32_t ring = 0; ring < 3; ++ring) {
        for (uint64_t i = 1; i <= 5; ++i) rings.write(ring, i, true, TR_RING_USER_UNIT, 0);
    }
    Cursor cursor = make_cursor(rings);
    Told told;
    for (const size_t expected : {4, 4, 4, 3, 0}) {
        const auto polled = cursor.poll(told, 4);
        EXPECT_EQ(polled->events, expected);
        EXPECT_EQ(told.take().size(), expected);
    }
}

TEST(Cursor, StopsWhereACallbackSaysSoAndLosesNothing) {
    RingBuilder rings(1, 64, true);
    for (uint64_t i = 1; i <= 5; ++i) rings.begin(0, i, kMajor);
    rings.head(0) = 2;
    Cursor cursor = make_cursor(rings);
    Told told;
    told.stop_at = 1;
    Lines all;
    for (int polls = 0; polls < 6; ++polls) {
        const auto polled = cursor.poll(told);
        ASSERT_TRUE(polled);
        EXPECT_EQ(polled->is_stopped, polls < 5);
        for (auto& text : told.take()) all.push_back(text);
    }
    EXPECT_EQ(all, (Lines{"lost 2 words 1 events exact 0-2", "B6@2", "B6@3", "B6@4", "B6@5"}));
}

TEST(Cursor, GoesOnAfterACallbackThrew) {
    RingBuilder rings(1, 64, false);
    rings.begin(0, 1, kMajor).end(0, 2, kMajor);
    Cursor cursor = make_cursor(rings);
    Told told;
    told.during = [] { throw std::runtime_error("no"); };
    EXPECT_THROW(static_cast<void>(cursor.poll(told)), std::runtime_error);
    told.during = nullptr;
    EXPECT_EQ(cursor.poll(told)->events, 1u);
    EXPECT_EQ(told.take(), (Lines{"B6@1", "E6@2"}));
}

TEST(Cursor, RefusesToBePolledByItsCallback) {
    RingBuilder rings(1, 64, false);
    rings.begin(0, 1, kMajor);
    Cursor cursor = make_cursor(rings);
    Told told;
    told.during = [&] {
        Told inner;
        const auto polled = cursor.poll(inner);
        ASSERT_FALSE(polled);
        EXPECT_EQ(polled.error().code, ErrorCode::usage);
    };
    EXPECT_TRUE(cursor.poll(told));
}

TEST(Cursor, SeesThatAnotherProgramBegan) {
    RingBuilder rings(2, 64, true);
    rings.begin(0, 1, kMajor).begin(0, 2, kMajor).begin(1, 3, kMajor);
    Cursor cursor = make_cursor(rings);
    Told told;
    cursor.poll(told).value();
    told.take();
    rings.begin_anew().begin(0, 9, kMajor);
    cursor.poll(told).value();
    EXPECT_EQ(told.take(), (Lines{"restart", "B6@9"}));
    // The same, though it has already written more than the one before.
    rings.begin_anew().begin(0, 20, kMajor).begin(0, 21, kMajor).begin(0, 22, kMajor);
    cursor.poll(told).value();
    EXPECT_EQ(told.take(), (Lines{"restart", "B6@20", "B6@21", "B6@22"}));
}

TEST(Cursor, WaitsForMetadata) {
    RingBuilder rings(1, 64, false);
    const uint64_t version = std::exchange(rings.word(0), 0);
    std::vector<std::byte> zeros(4096);
    auto early = Cursor::over(std::span(zeros).first(64));
    ASSERT_TRUE(early);
    Told told;
    EXPECT_FALSE(early->poll(told)->is_ready);
    // The version is written last: without it the rest is on its way, with it all of it is there.
    auto begun = Cursor::over(rings.bytes());
    ASSERT_TRUE(begun);
    EXPECT_FALSE(begun->poll(told)->is_ready);
    rings.word(0) = version;
    EXPECT_TRUE(begun->poll(told)->is_ready);
    rings.word(8) = 0;
    EXPECT_FALSE(Cursor::over(rings.bytes()));
    rings.word(0) = 0;
    rings.word(16) = 81;
    EXPECT_FALSE(Cursor::over(rings.bytes()));
}

TEST(Cursor, ResolvesNamesThatAreWrittenAfterTheEvent) {
    RingBuilder rings(1, 64, false);
    rings.write(0, 1, true, TR_RING_USER_UNIT, 3);
    Cursor cursor = make_cursor(rings);
    const Event event{.kind = EventKind::user_unit, .id = 3, .is_user = true};
    EXPECT_EQ(cursor.name_of(event), "user#3");
    rings.name(3, "app.tick");
    EXPECT_EQ(cursor.name_of(event), "app.tick");
    // Without an end: cut at what a name may have.
    rings.name(4, std::string(128, 'x'));
    EXPECT_EQ(cursor.name_of({.kind = EventKind::user_unit, .id = 4, .is_user = true}),
              std::string(127, 'x'));
}

TEST(Cursor, GivesUnknownIdsAsNumbers) {
    RingBuilder rings(128, 64, false);
    Cursor cursor = make_cursor(rings);
    EXPECT_EQ(cursor.name_of({.kind = EventKind::begin, .id = 57}), "phase#57");
    EXPECT_EQ(cursor.name_of({.kind = EventKind::counter, .id = 8000}), "counter#8000");
    EXPECT_EQ(cursor.name_of({.kind = EventKind::lifecycle, .id = 8}), "lifecycle#8");
    // Its meaning changed with 5.3, and nothing tells yet which this is.
    EXPECT_EQ(cursor.name_of({.kind = EventKind::begin, .id = 12}), "phase#12");
}

TEST(Cursor, KeepsRecordsTooShortForTheirTypeApart) {
    RingBuilder rings(1, 64, false);
    rings.write(0, 1, false, TR_RING_COUNTER, 4);
    rings.write(0, 2, true, TR_RING_USER_CUSTOM, 4, {uint64_t{200} << 56});  // 200 unused of 8
    rings.write(0, 3, false, 9, 4, {1, 2});
    Cursor cursor = make_cursor(rings);
    RingLines lines(cursor);
    cursor.poll(lines).value();
    ASSERT_EQ(lines.lines().size(), 3u);
    for (const auto& line : lines.lines()) {
        EXPECT_NE(line.find("\"unknown\""), std::string::npos) << line;
    }
}

TEST(Cursor, TellsTheNumberingFromOneMinorCollection) {
    constexpr uint32_t kPromoted = 4;
    for (const auto& [minor, text] : {std::pair{10u, "5.1 to 5.2"}, std::pair{11u, "5.3 to 5.5"}}) {
        RingBuilder rings(128, 64, false);
        rings.begin(0, 1, minor).counter(0, 2, kPromoted, 8).end(0, 3, minor);
        Cursor cursor = make_cursor(rings);
        Told told;
        cursor.poll(told).value();
        EXPECT_EQ(to_text(cursor.producer().versions), text);
        EXPECT_EQ(cursor.name_of({.kind = EventKind::begin, .id = minor}), "minor");
    }
    // Outside of one, and where a loss may hide its end, nothing is concluded.
    RingBuilder rings(128, 64, false);
    rings.begin(0, 1, 10).end(0, 2, 10).counter(0, 3, kPromoted, 8);
    Cursor cursor = make_cursor(rings);
    Told told;
    cursor.poll(told).value();
    EXPECT_FALSE(cursor.producer().versions.is_known_enough());
}

TEST(Cursor, SaysWhoWrites) {
    RingBuilder ours(3, 64, true);
    EXPECT_EQ(make_cursor(ours).producer().runtime, "builder 1");
    EXPECT_TRUE(make_cursor(ours).producer().has_sequences);
    RingBuilder ocaml(128, 64, false);
    Cursor cursor = make_cursor(ocaml);
    EXPECT_EQ(cursor.producer().runtime, "");
    EXPECT_EQ(to_text(cursor.producer().versions), "5.1 to 5.5");
}

TEST(Cursor, RefusesMetadataThatReachesBeyondTheFile) {
    const RingBuilder good(2, 64, false);
    // Word of the metadata, and what it may not be.
    const std::vector<std::pair<size_t, uint64_t>> faults{{0, 2},
                                                          {1, 0},
                                                          {1, 3},
                                                          {1, 4097},
                                                          {1, UINT64_MAX},
                                                          {2, 72},
                                                          {3, 513},
                                                          {4, 65},
                                                          {4, 1ull << 24},
                                                          {5, 72},
                                                          {6, 63},
                                                          {6, 225},
                                                          {6, UINT64_MAX - 7},
                                                          {7, 64},
                                                          {7, UINT64_MAX - 7}};
    for (const auto& [word, value] : faults) {
        RingBuilder rings = good;
        rings.word(word * 8) = value;
        if (word == 4 && value == 1ull << 24) rings.word(24) = value * 8;
        const auto cursor = Cursor::over(rings.bytes());
        ASSERT_FALSE(cursor) << word << " " << value;
        EXPECT_EQ(cursor.error().code, ErrorCode::bad_input);
    }
}

// A file of its own, mapped as a producer maps it.
class RingFile {
public:
    explicit RingFile(RingBuilder& rings)
        : path_(fmt::format("{}tracer-{}.events", testing::TempDir(), getpid())) {
        fd_.reset(open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        const auto bytes = rings.bytes();
        TR_CHECK(write(fd_.get(), bytes.data(), bytes.size()) ==
                 static_cast<ssize_t>(bytes.size()));
    }
    ~RingFile() { unlink(path_.c_str()); }
    RingFile(const RingFile&) = delete;
    RingFile& operator=(const RingFile&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] int fd() const { return fd_.get(); }

private:
    std::string path_;
    UniqueFd fd_;
};

TEST(CursorFile, ReadsByPathAndKeepsReadingWhatIsUnlinked) {
    RingBuilder rings(1, 64, false);
    rings.begin(0, 1, kMajor);
    const RingFile file(rings);
    auto cursor = Cursor::open_file(file.path());
    ASSERT_TRUE(cursor);
    unlink(file.path().c_str());
    Told told;
    EXPECT_EQ(cursor->poll(told)->events, 1u);
}

TEST(CursorFile, FailsButLivesWhenTheFileIsCutShort) {
    RingBuilder rings(1, 64, false);
    rings.begin(0, 1, kMajor);
    const RingFile file(rings);
    auto cursor = Cursor::open_file(file.path());
    ASSERT_TRUE(cursor);
    for (const off_t size : {150, 100, 10, 0}) {
        ASSERT_EQ(ftruncate(file.fd(), size), 0);
        Told told;
        const auto polled = cursor->poll(told);
        EXPECT_TRUE(!polled || told.texts.empty());
    }
}

TEST(CursorFile, RefusesWhatIsNoFileOfRings) {
    EXPECT_EQ(Cursor::open_file("/dev/null").error().code, ErrorCode::bad_input);
    EXPECT_EQ(Cursor::open_file("/tmp").error().code, ErrorCode::bad_input);
    EXPECT_EQ(Cursor::open_file("/proc/self/exe").error().code, ErrorCode::bad_input);
    EXPECT_EQ(Cursor::open_file("/no/such/file").error().code, ErrorCode::not_found);
}

TEST(CursorProcess, FindsTheRingsThatAProcessHasMapped) {
    RingBuilder rings(1, 64, false);
    rings.begin(0, 5, kMajor);
    const RingFile file(rings);
    const size_t bytes = rings.bytes().size();
    void* const mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd(), 0);
    ASSERT_NE(mapping, MAP_FAILED);
    Told told;
    auto cursor = Cursor::open_process(getpid());
    ASSERT_TRUE(cursor) << cursor.error().what;
    EXPECT_EQ(cursor->poll(told)->events, 1u);
    // Also without a name.
    unlink(file.path().c_str());
    auto unlinked = Cursor::open_process(getpid());
    ASSERT_TRUE(unlinked) << unlinked.error().what;
    EXPECT_EQ(unlinked->poll(told)->events, 1u);
    munmap(mapping, bytes);
    const auto none = Cursor::open_process(getpid());
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, ErrorCode::not_found);
}

TEST(PollPace, KeepsTheFullestRingAtATenth) {
    PollPace pace;
    PollResult busy;
    busy.fill = 1.0;
    EXPECT_EQ(pace.next_ns(busy), 1'000'000u);
    PollResult right;
    right.fill = 0.1;
    EXPECT_EQ(pace.next_ns(right), 1'000'000u);
    for (int i = 0; i < 10; ++i) static_cast<void>(pace.next_ns({}));
    EXPECT_EQ(pace.next_ns({}), PollPace::kMostNs);
}

TEST(OcamlVersions, AreReadFromText) {
    EXPECT_EQ(parse_ocaml_version("5.3"), (OcamlVersions{3, 3}));
    EXPECT_EQ(parse_ocaml_version("5.4.1"), (OcamlVersions{4, 4}));
    EXPECT_EQ(parse_ocaml_version("5.5.0+dev0"), (OcamlVersions{5, 5}));
    for (const auto* text : {"", "5", "5.", "5.x", "5.6", "4.14", "5.300", "5.4a", "6.0"}) {
        EXPECT_FALSE(parse_ocaml_version(text)) << text;
    }
}

TEST(OcamlVersions, AreToldByTheSymbolsOfTheExecutable) {
    using Symbols = std::vector<std::string_view>;
    const auto told = [](const Symbols& symbols) {
        return versions_of_symbols([&](std::string_view name) {
            return std::find(symbols.begin(), symbols.end(), name) != symbols.end();
        });
    };
    Symbols symbols{"caml_ev_begin"};
    EXPECT_EQ(told(symbols), (OcamlVersions{0, 0}));
    symbols.emplace_back("caml_runtime_events_user_register");
    EXPECT_EQ(told(symbols), (OcamlVersions{1, 1}));
    symbols.emplace_back("caml_ml_runtime_events_are_active");
    EXPECT_EQ(told(symbols), (OcamlVersions{2, 2}));
    symbols.emplace_back("caml_ml_runtime_events_path");
    EXPECT_EQ(told(symbols), (OcamlVersions{3, 3}));
    symbols.emplace_back("caml_ml_gc_ramp_up");
    EXPECT_EQ(told(symbols), (OcamlVersions{4, OcamlVersions::kNewest}));
    // OCaml 4's instrumented runtime, and what is no OCaml at all.
    EXPECT_EQ(told({"caml_ev_begin", "caml_eventlog_init"}), OcamlVersions());
    EXPECT_EQ(told({"main"}), OcamlVersions());
}

}  // namespace
}  // namespace tracer::test
