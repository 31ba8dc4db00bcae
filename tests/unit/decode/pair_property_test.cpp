// SPDX-License-Identifier: Apache-2.0
//
// Random schedules of begins, ends, untils, gaps and exits, held against a model that only knows
// what pairs mean: no tracks, no tables, no holes. Then the same with a sink that fills up at
// random, where the promises to writers must hold (RecordingWriter watches over them).
#include "pair_fixture.h"
#include "support/record_builder.h"

#include <algorithm>
#include <map>
#include <random>
#include <utility>

namespace tracer {
namespace {

// What must come out, summed over all spans.
struct Sums {
    uint64_t ended = 0;  // by their own end
    uint64_t until = 0;
    uint64_t orphans = 0;
    uint64_t reused = 0;
    uint64_t lost = 0;
    uint64_t at_exit = 0;
    uint64_t at_end = 0;
    uint64_t longest_ns = 0;
    bool operator==(const Sums&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Sums& sums) {
    return out << sums.ended << " ended, " << sums.until << " until, " << sums.orphans
               << " orphans, " << sums.reused << " reused, " << sums.lost << " lost, "
               << sums.at_exit << " at exit, " << sums.at_end << " at the end, longest "
               << sums.longest_ns;
}

struct Step {
    enum Kind : uint8_t { begin, end, until, gap, exit } kind = begin;
    uint64_t time_ns = 0;
    bool is_keyed = false;
    uint32_t probe = 0;
    uint32_t tid = 0;
    uint64_t key = 0;
    [[nodiscard]] uint32_t tgid() const { return 100 * (tid / 100); }
};

// Threads 100..103 are of process 100, 200..203 of process 200.
std::vector<Step> random_steps(std::mt19937_64& random, size_t count) {
    std::vector<Step> steps;
    const auto draw = [&](uint64_t below) { return random() % below; };
    for (size_t i = 0; i < count; ++i) {
        Step step{.time_ns = 1000 + 10 * i};
        step.tid = static_cast<uint32_t>(100 * (1 + draw(2)) + draw(4));
        step.is_keyed = draw(2) == 0;
        step.key = draw(12);
        const uint32_t pair = draw(2) == 0 ? 40 : 43;
        step.probe = step.is_keyed ? 46 : pair;
        const uint64_t kind = draw(100);
        step.kind = kind < 48   ? Step::begin
                    : kind < 95 ? Step::end
                    : kind < 98 ? Step::until
                    : kind < 99 ? Step::gap
                                : Step::exit;
        steps.push_back(step);
    }
    return steps;
}

class Model {
public:
    void take(const Step& step) {
        switch (step.kind) {
            case Step::begin:
                begin(step);
                return;
            case Step::end:
                end(step);
                return;
            case Step::until:
                until(step);
                return;
            case Step::gap:
                sums_.lost += open();
                threads_.clear();
                keys_.clear();
                return;
            case Step::exit:
                exit(step);
                return;
        }
    }
    Sums finish() {
        sums_.at_end = open();
        return sums_;
    }

private:
    using ThreadPair = std::pair<uint32_t, uint32_t>;  // thread, probe
    using ProcessKey = std::pair<uint32_t, uint64_t>;

    [[nodiscard]] uint64_t open() const {
        uint64_t count = keys_.size();
        for (const auto& [pair, begins] : threads_) count += begins.size();
        return count;
    }
    void close(uint64_t begin_ns, uint64_t end_ns) {
        sums_.longest_ns = std::max(sums_.longest_ns, end_ns - begin_ns);
    }
    void begin(const Step& step) {
        if (!step.is_keyed) {
            threads_[{step.tid, step.probe}].push_back(step.time_ns);
            return;
        }
        const auto [found, is_new] = keys_.insert_or_assign({step.tgid(), step.key}, step.time_ns);
        if (!is_new) ++sums_.reused;
    }
    void end(const Step& step) {
        if (step.is_keyed) {
            const auto found = keys_.find({step.tgid(), step.key});
            if (found == keys_.end()) {
                ++sums_.orphans;
                return;
            }
            ++sums_.ended;
            close(found->second, step.time_ns);
            keys_.erase(found);
            return;
        }
        auto& begins = threads_[{step.tid, step.probe}];
        if (begins.empty()) {
            ++sums_.orphans;
            return;
        }
        ++sums_.ended;
        close(begins.back(), step.time_ns);
        begins.pop_back();
    }
    void until(const Step& step) {
        if (step.is_keyed) {
            const auto found = keys_.find({step.tgid(), step.key});
            if (found == keys_.end()) return;
            ++sums_.until;
            close(found->second, step.time_ns);
            keys_.erase(found);
            return;
        }
        auto& begins = threads_[{step.tid, step.probe}];
        sums_.until += begins.size();
        for (const uint64_t begin_ns : begins) close(begin_ns, step.time_ns);
        begins.clear();
    }
    // Of the thread; the last step of a process is not among them.
    void exit(const Step& step) {
        for (auto& [pair, begins] : threads_) {
            if (pair.first != step.tid) continue;
            sums_.at_exit += begins.size();
            begins.clear();
        }
    }

    Sums sums_;
    std::map<ThreadPair, std::vector<uint64_t>> threads_;
    std::map<ProcessKey, uint64_t> keys_;
};

class DecoderPairProperty : public PairTest {
protected:
    void take(const Step& step) {
        switch (step.kind) {
            case Step::begin:
                hit(step, step.probe);
                return;
            case Step::end:
                hit(step, step.probe + kEnd);
                return;
            case Step::until:
                hit(step, step.probe + kUntil);
                return;
            case Step::gap:
                feed(test::make_gap(TR_KIND_gap_begin, step.time_ns, 1, 0, step.time_ns));
                feed(test::make_gap(TR_KIND_gap_end, step.time_ns, 1, 1, step.time_ns));
                return;
            case Step::exit:
                exit(step.time_ns, step.tid, step.tgid(), false);
                return;
        }
    }

    [[nodiscard]] Sums sums() const {
        Sums sums{.until = counters().spans_ended_by_until,
                  .orphans = counters().spans_orphan_end + counters().spans_begun_before,
                  .reused = counters().spans_key_reused,
                  .lost = counters().spans_cut_by_loss,
                  .at_exit = counters().spans_closed_at_exit,
                  .at_end = counters().spans_closed_at_end};
        for (const auto& tally : decoder_->span_tallies()) {
            sums.ended += tally.durations.count();
            sums.longest_ns = std::max(sums.longest_ns, tally.durations.max_ns());
        }
        sums.ended -= sums.until;
        return sums;
    }

private:
    void hit(const Step& step, uint32_t probe) {
        if (step.is_keyed) {
            keyed(step.time_ns, probe, step.key, step.tid, step.tgid());
        } else {
            pair(step.time_ns, probe, step.tid, step.tgid());
        }
    }
};

TEST_F(DecoderPairProperty, AgreesWithTheModel) {
    for (uint64_t seed = 0; seed < 200; ++seed) {
        std::mt19937_64 random(seed);
        start(pair_definitions());
        Model model;
        for (const Step& step : random_steps(random, 300)) {
            model.take(step);
            take(step);
        }
        decoder_->finish(10000);
        ASSERT_EQ(sums(), model.finish()) << "seed " << seed;
        ASSERT_EQ(writer_.open_spans(), 0U) << "seed " << seed;
        ASSERT_THAT(writer_.faults(), testing::IsEmpty()) << "seed " << seed;
    }
}

TEST_F(DecoderPairProperty, KeepsItsPromisesWhateverTheSinkTakes) {
    for (uint64_t seed = 0; seed < 200; ++seed) {
        std::mt19937_64 random(seed);
        start(pair_definitions());
        for (const Step& step : random_steps(random, 300)) {
            writer_.set_room(random() % 3 == 0 ? random() % 4 : UINT64_MAX);
            if (random() % 8 == 0) begin(step.time_ns, kBeginF, 0x1000 + 16 * (random() % 64));
            if (random() % 8 == 0) end(step.time_ns, kEndF, 0x1000 + 16 * (random() % 64));
            take(step);
        }
        writer_.set_room(UINT64_MAX);
        decoder_->finish(10000);
        ASSERT_EQ(writer_.open_spans(), 0U) << "seed " << seed;
        ASSERT_THAT(writer_.faults(), testing::IsEmpty()) << "seed " << seed;
    }
}

}  // namespace
}  // namespace tracer
