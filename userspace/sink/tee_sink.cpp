// SPDX-License-Identifier: Apache-2.0
//
// One writer, several sinks. A record is written once, into memory of the tee's own, and copied to
// each branch that is in step; a branch that has no room for it falls out of step until the next
// chunk. Relies on nothing but the contract of ByteSink; used for a file beside a live reader.
#include "tracer/write/tee_sink.h"

#include "sink/chunk_meter.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

namespace tracer {
namespace {

// How often a branch out of step is asked for room: the question may cost a lock.
constexpr uint64_t kProbeIntervalNs = 10'000'000;

class Branch {
public:
    explicit Branch(TeeBranch branch)
        : name_(std::move(branch.name)),
          sink_(std::move(branch.sink)),
          chunked_(dynamic_cast<ChunkedSink*>(sink_.get())) {}

    [[nodiscard]] TeeBranchState state() const { return state_.load(std::memory_order_relaxed); }
    [[nodiscard]] ByteSink& sink() { return *sink_; }
    [[nodiscard]] ChunkedSink* chunked() { return chunked_; }

    // Whether the branch has the record.
    bool take(std::span<const std::byte> record) {
        if (state() == TeeBranchState::open) {
            const auto room = sink_->reserve(record.size());
            if (!room.empty()) {
                std::memcpy(room.data(), record.data(), record.size());
                sink_->commit(record.size());
                return true;
            }
            fall_out();
        }
        count_lost(record.size());
        return false;
    }

    void count_lost(size_t bytes) {
        // One producer, so nothing is lost between the load and the store.
        lost_records_.store(lost_records_.load(std::memory_order_relaxed) + 1,
                            std::memory_order_relaxed);
        lost_bytes_.store(lost_bytes_.load(std::memory_order_relaxed) + bytes,
                          std::memory_order_relaxed);
    }

    void begin_chunk() {
        if (state() == TeeBranchState::failed) return;
        if (chunked_ != nullptr && !chunked_->next_chunk()) {
            fall_out();
            return;
        }
        state_.store(TeeBranchState::open, std::memory_order_relaxed);
    }

    // Out of step: whether a chunk's opening would be welcome.
    [[nodiscard]] bool has_room() {
        if (!sink_->reserve(ByteSink::kReserveBytesMax).empty()) return true;
        if (!sink_->health()) fall_out();
        return false;
    }

    [[nodiscard]] Status close() {
        Status status = sink_->close();
        if (!status) return tl::unexpected(std::move(status).error().within(name_));
        return status;
    }

    [[nodiscard]] Status health() const {
        Status status = sink_->health();
        if (!status) return tl::unexpected(std::move(status).error().within(name_));
        return status;
    }

    [[nodiscard]] TeeBranchReport report() const {
        TeeBranchReport report{.name = name_,
                               .state = state(),
                               .bytes = sink_->bytes_committed(),
                               .lost_records = lost_records_.load(std::memory_order_relaxed),
                               .lost_bytes = lost_bytes_.load(std::memory_order_relaxed),
                               .error = {}};
        // The sink's thread may have failed since the last record.
        if (Status health = sink_->health(); !health) {
            report.state = TeeBranchState::failed;
            report.error = std::move(health).error();
        }
        return report;
    }

private:
    void fall_out() {
        state_.store(sink_->health() ? TeeBranchState::out_of_step : TeeBranchState::failed,
                     std::memory_order_relaxed);
    }

    const std::string name_;
    const std::unique_ptr<ByteSink> sink_;
    ChunkedSink* const chunked_;  // the same sink, if it has chunks
    // Written by the producer, read by any thread.
    std::atomic<TeeBranchState> state_{TeeBranchState::open};
    std::atomic<uint64_t> lost_records_{0};
    std::atomic<uint64_t> lost_bytes_{0};
};

class Tee final : public TeeSink {
public:
    Tee(std::vector<TeeBranch> branches, const TeeOptions& options) : options_(options) {
        branches_.reserve(branches.size());
        for (TeeBranch& branch : branches) {
            branches_.push_back(std::make_unique<Branch>(std::move(branch)));
        }
        update_states();
    }

    std::span<std::byte> reserve(size_t bytes) override {
        if (bytes > kReserveBytesMax || is_closed_) return {};
        if (open_count_ == 0) [[unlikely]] {
            for (const auto& branch : branches_) branch->count_lost(bytes);
            return {};
        }
        return std::span(record_).first(bytes);
    }

    void commit(size_t bytes) override {
        TR_CHECK(bytes <= kReserveBytesMax);
        const auto record = std::span(record_).first(bytes);
        size_t taken_count = 0;
        for (const auto& branch : branches_) taken_count += branch->take(record) ? 1 : 0;
        if (taken_count != open_count_) lost();
        if (taken_count != 0) {
            committed_.store(committed_.load(std::memory_order_relaxed) + bytes,
                             std::memory_order_relaxed);
        }
    }

    void flush() override {
        for (const auto& branch : branches_) branch->sink().flush();
    }

    Status close() override {
        TR_CHECK(!is_closed_);
        is_closed_ = true;
        std::optional<Error> first;
        for (const auto& branch : branches_) join(first, branch->close());
        if (first) return tl::unexpected(std::move(*first));
        return {};
    }

    Status health() const override {
        std::optional<Error> first;
        for (const auto& branch : branches_) {
            const Status status = branch->health();
            if (status) return {};
            join(first, status);
        }
        return tl::unexpected(std::move(*first));
    }

    unsigned long long bytes_committed() const override {
        return committed_.load(std::memory_order_relaxed);
    }

    bool branch_needs_chunk() override {
        if (out_of_step_count_ == 0) [[likely]]
            return false;
        const uint64_t now_ns = coarse_now_ns();
        if (now_ns < next_probe_ns_) return false;
        const bool is_welcome = std::any_of(
            branches_.begin(), branches_.end(), [](const std::unique_ptr<Branch>& branch) {
                return branch->state() == TeeBranchState::out_of_step && branch->has_room();
            });
        if (!is_welcome) {
            next_probe_ns_ = now_ns + kProbeIntervalNs;
            update_states();
        }
        return is_welcome;
    }

    bool chunk_is_due() override {
        const bool is_due =
            any_chunked([](ChunkedSink& chunked) { return chunked.chunk_is_due(); });
        return branch_needs_chunk() || is_due;
    }

    bool chunk_is_due_at(uint64_t now_ns) override {
        const bool is_due =
            any_chunked([now_ns](ChunkedSink& chunked) { return chunked.chunk_is_due_at(now_ns); });
        return branch_needs_chunk() || is_due;
    }

    Status next_chunk() override {
        for (const auto& branch : branches_) branch->begin_chunk();
        update_states();
        return health();
    }

    std::vector<TeeBranchReport> branches() const override {
        std::vector<TeeBranchReport> reports;
        reports.reserve(branches_.size());
        for (const auto& branch : branches_) reports.push_back(branch->report());
        return reports;
    }

private:
    // All of them are asked: each has a clock to start.
    template <typename Question>
    [[nodiscard]] bool any_chunked(Question question) {
        bool is_any = false;
        for (const auto& branch : branches_) {
            if (branch->chunked() == nullptr || branch->state() != TeeBranchState::open) continue;
            is_any |= question(*branch->chunked());
        }
        return is_any;
    }

    static void join(std::optional<Error>& all, const Status& status) {
        if (status) return;
        if (!all) {
            all = status.error();
        } else {
            all->what += "; " + status.error().what;
        }
    }

    // A branch has fallen out of step or failed with the last record.
    void lost() {
        update_states();
        next_probe_ns_ = coarse_now_ns() + options_.rejoin_ns_min;
    }

    void update_states() {
        open_count_ = count(TeeBranchState::open);
        out_of_step_count_ = count(TeeBranchState::out_of_step);
    }

    [[nodiscard]] size_t count(TeeBranchState state) const {
        return static_cast<size_t>(
            std::count_if(branches_.begin(), branches_.end(),
                          [state](const auto& branch) { return branch->state() == state; }));
    }

    const TeeOptions options_;
    std::vector<std::unique_ptr<Branch>> branches_;
    size_t open_count_ = 0;
    size_t out_of_step_count_ = 0;
    uint64_t next_probe_ns_ = 0;
    bool is_closed_ = false;
    std::atomic<unsigned long long> committed_{0};
    alignas(8) std::array<std::byte, kReserveBytesMax> record_{};
};

}  // namespace

Result<std::unique_ptr<TeeSink>> make_tee_sink(std::vector<TeeBranch> branches,
                                               const TeeOptions& options) {
    if (branches.size() < 2) {
        return fail(ErrorCode::usage, "a tee has two outputs or more", "use the one sink itself");
    }
    for (const TeeBranch& branch : branches) {
        if (!branch.sink) {
            return fail(ErrorCode::usage, "output " + branch.name + " of the tee has no sink");
        }
    }
    return std::make_unique<Tee>(std::move(branches), options);
}

}  // namespace tracer
