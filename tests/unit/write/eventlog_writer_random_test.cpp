// SPDX-License-Identifier: Apache-2.0
//
// Whatever the model's events are, the log is valid. Machines of a few CPUs and threads run at
// random: mostly as they should, and then switches are missing, threads run in two places, numbers
// are used again, wakeups come in every state, threads die while they run or run when they are
// dead, times go back, events are lost, chunks begin, and the recorder is killed.
#include "unit/write/eventlog_writer_fixture.h"

#include <array>
#include <random>
#include <vector>

namespace tracer::test {
namespace {

constexpr uint16_t kCpus = 4;
constexpr uint32_t kThreads = 9;

// A sink that gives no room now and then, and remembers where reservations ended.
class MoodySink : public MemorySink {
public:
    [[nodiscard]] std::span<std::byte> reserve(size_t bytes) override {
        if (is_full) return {};
        return MemorySink::reserve(bytes);
    }
    void commit(size_t bytes) override {
        MemorySink::commit(bytes);
        ends.push_back(this->bytes().size());
    }

    bool is_full = false;
    std::vector<size_t> ends;
};

class RandomMachine {
public:
    RandomMachine(uint32_t seed, ByteSink& sink)
        : random_(seed), writer_(find_format_by_name("eventlog")->make_writer(sink)) {
        // One in so many events makes no sense: none at all, some, or every other.
        constexpr std::array<uint32_t, 4> kMischief{0, 50, 10, 2};
        mischief_ = kMischief[seed % kMischief.size()];
    }

    [[nodiscard]] TraceWriter& writer() { return *writer_; }
    [[nodiscard]] uint32_t below(uint32_t end) {
        return std::uniform_int_distribution<uint32_t>(0, end - 1)(random_);
    }

    void open() {
        model::Recording recording;
        if (below(2) == 0) recording.cpu_count = kCpus;
        if (below(2) == 0) recording.pid = 100;
        writer_->describe(recording);
        ASSERT_TRUE(writer_->open());
        for (uint32_t i = 0; i < kThreads; ++i) be_born(i);
        writer_->define(model::Point{.index = model::PointIndex{0}, .name = "event"});
    }

    void step() {
        // Often the same time as before, on whatever CPU; now and then an earlier one.
        if (below(3) != 0) now_ns_ += below(20);
        if (below(1000) == 0) now_ns_ += 1'500'000'000;
        const bool is_odd = mischief_ != 0 && below(mischief_) == 0;
        const uint64_t ns = is_odd && below(4) == 0 ? now_ns_ - below(50) : now_ns_;
        const auto cpu = static_cast<uint16_t>(below(kCpus));
        switch (below(12)) {
            case 0:
                write(ns,
                      model::Wakeup{static_cast<uint16_t>(below(kCpus)), thread(), thread(), 120},
                      cpu);
                return;
            case 1:
                write(ns, model::Instant{model::PointIndex{0}, thread(), {}}, cpu);
                return;
            case 2:
                write(ns, model::SpanBegin{model::PointIndex{0}, thread(), {}}, cpu);
                return;
            case 3:
                write(ns, model::SpanEnd{model::PointIndex{0}, thread(), {}, {}}, cpu);
                return;
            case 4:
                if (below(10) == 0) lose(ns);
                return;
            case 5:
                if (below(10) == 0) be_born(below(kThreads));
                if (below(10) == 0) rename(below(kThreads));
                return;
            default:
                switch_cpu(ns, cpu, is_odd);
                return;
        }
    }

private:
    void write(uint64_t ns, const model::EventBody& body, uint16_t cpu) {
        static_cast<void>(writer_->write({ns, body, cpu}));
    }

    [[nodiscard]] model::ThreadIndex thread() {
        return below(10) == 0 ? model::kIdleThread : threads_[below(kThreads)].index;
    }

    // The one before it with this number is not heard of again, but for what is odd.
    void be_born(uint32_t number) {
        threads_[number].index = model::ThreadIndex{next_index_++};
        threads_[number].life += 1;
        rename(number);
    }

    void rename(uint32_t number) {
        writer_->define(model::Thread{.index = threads_[number].index,
                                      .pid = 100,
                                      .tid = 100 + number,
                                      .thread_life = threads_[number].life,
                                      .thread_name = "t" + std::to_string(below(100)),
                                      .process_name = "p"});
    }

    void lose(uint64_t ns) {
        const auto cause = static_cast<model::LossCause>(below(3));
        const auto cpu = static_cast<uint16_t>(below(kCpus));
        write(ns, model::Loss{cause, cpu, ns - below(100), below(50)}, cpu);
        for (uint16_t i = 0; i < kCpus; ++i) {
            if (cause == model::LossCause::sink_full || i == cpu) running_[i] = model::kIdleThread;
        }
    }

    void switch_cpu(uint64_t ns, uint16_t cpu, bool is_odd) {
        model::ThreadIndex in = thread();
        const bool runs_elsewhere =
            std::find(running_.begin(), running_.end(), in) != running_.end();
        if (runs_elsewhere && !is_odd) in = model::kIdleThread;
        const model::ThreadIndex out = is_odd ? thread() : running_[cpu];
        if (out == in && !is_odd) return;
        const auto state = static_cast<model::ThreadState>(below(6));
        write(ns, model::Switch{cpu, out, state, 120, in, 120}, cpu);
        running_[cpu] = in;
    }

    struct Thread {
        model::ThreadIndex index{};
        uint32_t life = 0;
    };

    std::mt19937 random_;
    std::unique_ptr<TraceWriter> writer_;
    uint32_t mischief_ = 0;
    uint64_t now_ns_ = 5'000'000'000;
    std::array<Thread, kThreads> threads_{};
    std::array<model::ThreadIndex, kCpus> running_{model::kIdleThread, model::kIdleThread,
                                                   model::kIdleThread, model::kIdleThread};
    uint32_t next_index_ = 0;
};

void expect_accepted(std::string_view bytes, uint32_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const EventlogFile file = parse_eventlog(bytes);
    EXPECT_EQ(problems_text(file), "");
    EXPECT_THAT(check_eventlog(file).refusals, testing::IsEmpty());
    if (missing_eventlog_checker()) return;
    EXPECT_TRUE(bytes_validate_as_eventlog(bytes));
}

constexpr uint32_t kSeeds = 160;

TEST(EventlogRandom, AnyOrderOfEventsMakesAValidLog) {
    for (uint32_t seed = 0; seed < kSeeds && !testing::Test::HasFailure(); ++seed) {
        MemorySink sink;
        RandomMachine machine(seed, sink);
        machine.open();
        for (int i = 0; i < 800; ++i) machine.step();
        ASSERT_TRUE(machine.writer().close());
        expect_accepted(text_of(sink.bytes()), seed);
    }
}

TEST(EventlogRandom, ALogWhoseRecorderWasKilledIsValid) {
    for (uint32_t seed = 0; seed < kSeeds / 10 && !testing::Test::HasFailure(); ++seed) {
        MoodySink sink;
        RandomMachine machine(seed, sink);
        machine.open();
        for (int i = 0; i < 6000; ++i) machine.step();
        for (const size_t end : sink.ends) {
            expect_accepted(text_of(sink.bytes().first(end)), seed);
        }
        EXPECT_GT(sink.ends.size(), 2U) << "nothing was written before the end";
    }
}

TEST(EventlogRandom, ALogOfASinkThatIsFullNowAndThenIsValid) {
    uint64_t events_without_room = 0;
    for (uint32_t seed = 0; seed < kSeeds / 10 && !testing::Test::HasFailure(); ++seed) {
        MoodySink sink;
        RandomMachine machine(seed, sink);
        machine.open();
        for (int i = 0; i < 12000; ++i) {
            if (machine.below(3000) == 0) sink.is_full = !sink.is_full;
            machine.step();
        }
        events_without_room += machine.writer().counters().no_room;
        sink.is_full = false;
        ASSERT_TRUE(machine.writer().close());
        expect_accepted(text_of(sink.bytes()), seed);
    }
    EXPECT_GT(events_without_room, 0U);
}

TEST(EventlogRandom, EachChunkIsAValidLog) {
    for (uint32_t seed = 0; seed < kSeeds / 4 && !testing::Test::HasFailure(); ++seed) {
        std::array<MemorySink, 4> sinks;
        RandomMachine machine(seed, sinks[0]);
        machine.open();
        for (size_t chunk = 0; chunk < sinks.size(); ++chunk) {
            if (chunk != 0) {
                ASSERT_TRUE(machine.writer().switch_sink(sinks[chunk], SinkStart::reads_alone));
            }
            for (int i = 0; i < 300; ++i) machine.step();
        }
        ASSERT_TRUE(machine.writer().close());
        for (const MemorySink& sink : sinks) {
            expect_accepted(text_of(sink.bytes()), seed);
        }
    }
}

}  // namespace
}  // namespace tracer::test
