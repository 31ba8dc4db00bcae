// SPDX-License-Identifier: Apache-2.0
//
// Events of templates are those of the checked calls, word for word; wrong values are found.
#include "tracer/write/fxt/event_template.h"
#include "unit/write/fxt_stream_fixture.h"

namespace tracer::fxt {
namespace {

struct Named : OpenStream {
    Named() {
        name = stream.intern("name").value();
        thread = stream.pinned_thread({1, 2}).value();
        static_cast<void>(taken());
    }
    [[nodiscard]] EventTemplate make(EventType type, const std::vector<ArgumentType>& types = {}) {
        std::vector<ArgumentShape> shapes;
        shapes.reserve(types.size());
        for (const ArgumentType each : types) shapes.push_back({name, each});
        return EventTemplate::make(stream, type, thread, name, name, shapes).value();
    }

    StringRef name;
    ThreadRef thread{ThreadIds{}};
};

TEST(FxtTemplate, WritesWhatTheCheckedCallWrites) {
    Named named;
    auto all = named.make(
        EventType::instant,
        {ArgumentType::null, ArgumentType::int32, ArgumentType::uint32, ArgumentType::int64,
         ArgumentType::uint64, ArgumentType::float64, ArgumentType::string, ArgumentType::pointer,
         ArgumentType::koid, ArgumentType::boolean});
    EXPECT_TRUE(all.write(7, nullptr, int32_t{-1}, uint32_t{2}, int64_t{-3}, uint64_t{4}, 5.0,
                          named.name, Pointer{6}, Koid{7}, true));
    const Words words = named.taken();
    const StringRef& n = named.name;
    EXPECT_TRUE(named.stream.instant(named.thread, n, n, 7, arg(n, nullptr), arg(n, int32_t{-1}),
                                     arg(n, uint32_t{2}), arg(n, int64_t{-3}), arg(n, uint64_t{4}),
                                     arg(n, 5.0), arg(n, n), arg(n, Pointer{6}), arg(n, Koid{7}),
                                     arg(n, true)));
    EXPECT_EQ(words, named.taken());
    EXPECT_EQ(words.size(), 2U + 10 + 5);

    auto counter = named.make(EventType::counter, {ArgumentType::uint64});
    EXPECT_TRUE(counter.write_with(7, 9, uint64_t{8}));
    const Words counted = named.taken();
    EXPECT_TRUE(named.stream.counter(named.thread, n, n, 7, 9, arg(n, uint64_t{8})));
    EXPECT_EQ(counted, named.taken());
    EXPECT_TRUE(counter.checked_write_with(7, 9, uint64_t{8}));
    EXPECT_EQ(counted, named.taken());
    const Number values[] = {to_number(uint64_t{8})};
    EXPECT_TRUE(counter.checked_write(7, 9, std::span<const Number>(values)));
    EXPECT_EQ(counted, named.taken());
}

TEST(FxtTemplate, TheCheckedCallsRefuseWrongValues) {
    Named named;
    auto instant = named.make(EventType::instant, {ArgumentType::uint32});
    EXPECT_EQ(instant.checked_write(1).fault(), Fault::wrong_count);
    EXPECT_EQ(instant.checked_write(1, uint32_t{1}, uint32_t{1}).fault(), Fault::wrong_count);
    EXPECT_EQ(instant.checked_write(1, int32_t{1}).fault(), Fault::wrong_type);
    EXPECT_EQ(instant.checked_write_with(1, 1, uint32_t{1}).fault(), Fault::wrong_count);
    const Number values[] = {to_number(true), to_number(1)};
    EXPECT_EQ(instant.checked_write(1, 0, std::span(values).first(1)).fault(), Fault::wrong_type);
    EXPECT_EQ(instant.checked_write(1, 0, std::span<const Number>(values)).fault(),
              Fault::wrong_count);
    auto complete = named.make(EventType::duration_complete);
    EXPECT_EQ(complete.checked_write(1).fault(), Fault::wrong_count);
    EXPECT_EQ(complete.checked_write_with(2, 1).fault(), Fault::end_before_start);
    EXPECT_EQ(complete.checked_write(2, 1, std::span<const Number>()).fault(),
              Fault::end_before_start);
    auto text = named.make(EventType::instant, {ArgumentType::string});
    EXPECT_EQ(text.checked_write(1, StringRef("text")).fault(), Fault::needs_index);
    EXPECT_EQ(text.checked_write(1, StringRef::at(99)).fault(), Fault::not_defined);
    EXPECT_TRUE(text.checked_write(1, named.name));
    EXPECT_EQ(named.taken().size(), 3U);
}

TEST(FxtTemplate, AssertsTheTypesOfValues) {
    Named named;
    auto instant = named.make(EventType::instant, {ArgumentType::uint32});
    EXPECT_DEBUG_DEATH(static_cast<void>(instant.write(1, uint64_t{1})), "signature");
}

TEST(FxtTemplate, IsMadeOfIndicesOnly) {
    Named named;
    const StringRef& n = named.name;
    const auto fault_of = [&](const StringRef& category, std::span<const ArgumentShape> shapes,
                              EventType type = EventType::instant) {
        const auto made =
            EventTemplate::make(named.stream, type, named.thread, category, n, shapes);
        return made ? Fault::none : made.error();
    };
    EXPECT_EQ(fault_of("text", {}), Fault::needs_index);
    EXPECT_EQ(fault_of(named.stream.cached("cached").value(), {}), Fault::needs_index);
    EXPECT_EQ(fault_of(StringRef::at(99), {}), Fault::not_defined);
    EXPECT_EQ(fault_of({}, {}), Fault::none);
    const std::vector<ArgumentShape> sixteen(16, ArgumentShape{n, ArgumentType::null});
    EXPECT_EQ(fault_of(n, sixteen), Fault::too_many_arguments);
    EXPECT_EQ(fault_of(n, std::span(sixteen).first(15)), Fault::none);
    const ArgumentShape blob[] = {{n, ArgumentType::blob}};
    EXPECT_EQ(fault_of(n, blob), Fault::wrong_type);
    const ArgumentShape flag[] = {{n, ArgumentType::boolean}};
    EXPECT_EQ(fault_of(n, flag, EventType::counter), Fault::wrong_type);
}

TEST(FxtTemplate, StaysGoodInAnotherChunkAndWithoutRoom) {
    Named named;
    auto instant = named.make(EventType::instant);
    named.sink.is_full = true;
    static_cast<void>(named.stream.intern("late"));  // waits for room
    EXPECT_EQ(instant.write(1).fault(), Fault::no_room);
    named.sink.is_full = false;
    EXPECT_TRUE(instant.write(2));
    EXPECT_EQ(named.taken(), (Words{0x0000000400020022, 0x6574616c, 0x0001000101000024, 2}));
    ASSERT_TRUE(named.stream.begin_chunk().has_value());
    static_cast<void>(named.taken());
    EXPECT_TRUE(instant.write(3));
    EXPECT_EQ(named.taken(), (Words{0x0001000101000024, 3}));
}

}  // namespace
}  // namespace tracer::fxt
