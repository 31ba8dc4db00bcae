// SPDX-License-Identifier: Apache-2.0
//
// decoder -> TopTable, and a frame to TopFrames each interval. All of it runs on the thread that
// drains, so that an event is in the interval in which it was read; only the frames cross.
#include "session/top/top_output.h"

#include "session/clock.h"

#include <cerrno>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace tracer {
namespace {

class TopOutput final : public Output {
public:
    TopOutput(RecordingDefinitions definitions, const TopOutputOptions& options)
        : interval_ns_(static_cast<uint64_t>(options.interval.count())),
          frames_(*options.frames),
          table_(options.table),
          decoder_(Decoder::make(std::move(definitions), table_)) {}

    RecordHandler& handler() override { return *decoder_; }
    Status add(const std::vector<model::Point>& points,
               const std::vector<ProbeDefinition>& probes) override {
        decoder_->add(points, probes);
        return {};
    }
    void flush() override {
        const uint64_t now_ns = boottime_ns();
        if (next_ns_ == 0) {
            table_.begin(now_ns);
            next_ns_ = now_ns + interval_ns_;
        }
        if (now_ns < next_ns_) return;
        frames_.push(table_.close_interval(now_ns));
        // The next full one, also where a turn took longer than that.
        next_ns_ += ((now_ns - next_ns_) / interval_ns_ + 1) * interval_ns_;
    }
    Status health() const override { return {}; }
    uint64_t bytes() const override { return 0; }
    uint64_t bytes_now() override { return 0; }

    Status check_switch() const override {
        return fail(ErrorCode::missing_feature, "what top counts goes nowhere",
                    "tracer --pid N -o FILE records what can be sent elsewhere");
    }
    bool is_appendable() const override { return false; }
    Status switch_sink(std::unique_ptr<ByteSink>& /*sink*/, SinkStart /*start*/) override {
        return check_switch();
    }

    Status finish(uint64_t now_ns, const KernelCounters& /*counters*/) override {
        decoder_->finish(now_ns);
        if (next_ns_ == 0) table_.begin(now_ns);
        frames_.push(table_.close_interval(now_ns));
        return {};
    }
    Status close() override { return {}; }
    uint64_t bytes_written() const override { return 0; }

    OutputFacts facts() const override {
        return {.events = table_.counters().events,
                .first_ns = decoder_->first_ns(),
                .last_ns = decoder_->last_ns(),
                .decoder = decoder_->counters(),
                .writer = table_.counters(),
                .spans = decoder_->span_tallies(),
                .files = {}};
    }
    uint64_t received(uint32_t probe_id) const override { return decoder_->hits(probe_id); }

private:
    const uint64_t interval_ns_;
    TopFrames& frames_;
    TopTable table_;
    std::unique_ptr<Decoder> decoder_;
    uint64_t next_ns_ = 0;  // 0: no interval has begun
};

}  // namespace

Result<std::unique_ptr<TopFrames>> TopFrames::make() {
    UniqueFd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake.valid()) return fail_errno(ErrorCode::io, errno, "make an eventfd");
    return std::unique_ptr<TopFrames>(new TopFrames(std::move(wake)));
}

void TopFrames::push(TopFrame frame) {
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(std::move(frame));
        if (waiting_.size() > kWaitingMax) {
            waiting_.pop_front();
            dropped_ += 1;
        }
    }
    const uint64_t one = 1;
    // At its maximum it has woken its reader long before.
    if (write(wake_.get(), &one, sizeof(one)) < 0) return;
}

std::vector<TopFrame> TopFrames::take() {
    uint64_t count = 0;
    // Empty if nothing came: then there is nothing to take either.
    if (read(wake_.get(), &count, sizeof(count)) < 0) return {};
    const std::lock_guard lock(mutex_);
    std::vector<TopFrame> taken(std::make_move_iterator(waiting_.begin()),
                                std::make_move_iterator(waiting_.end()));
    waiting_.clear();
    return taken;
}

uint64_t TopFrames::dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
}

std::unique_ptr<Output> make_top_output(RecordingDefinitions definitions,
                                        const TopOutputOptions& options) {
    return std::make_unique<TopOutput>(std::move(definitions), options);
}

}  // namespace tracer
