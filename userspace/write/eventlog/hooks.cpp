// SPDX-License-Identifier: Apache-2.0
//
// Between GHC's writer hooks and ByteSink, both ways. Relies on a block being brought with one
// call of ByteSink::write; used by programs that embed a log.
#include "tracer/write/eventlog/hooks.h"

#include "tracer/write/eventlog/block_stream.h"

#include <atomic>
#include <utility>
#include <vector>

namespace tracer::eventlog {
namespace {

class HookSink : public ByteSink {
public:
    explicit HookSink(WriterHooks hooks) : hooks_(std::move(hooks)) {}

    [[nodiscard]] std::span<std::byte> reserve(size_t bytes) override {
        if (bytes > kReserveBytesMax || !settle()) return {};
        reserved_.resize(bytes);
        return reserved_;
    }

    // There is no way to refuse here: what finds no room is offered again before anything else.
    void commit(size_t bytes) override {
        reserved_.resize(bytes);
        is_unsettled_ = !offer(reserved_);
    }

    [[nodiscard]] size_t write(std::span<const std::byte> bytes) override {
        return settle() && offer(bytes) ? bytes.size() : 0;
    }

    void flush() override {
        if (settle() && hooks_.flush) hooks_.flush();
    }

    [[nodiscard]] Status close() override {
        const bool is_settled = settle();
        if (hooks_.stop) hooks_.stop();
        if (is_settled) return {};
        return fail(ErrorCode::io, "a writer's hook did not take all");
    }

    [[nodiscard]] Status health() const override { return {}; }
    [[nodiscard]] unsigned long long bytes_committed() const override { return committed_; }

private:
    bool settle() {
        if (is_unsettled_) is_unsettled_ = !offer(reserved_);
        return !is_unsettled_;
    }

    bool offer(std::span<const std::byte> bytes) {
        if (!is_started_ && hooks_.init) hooks_.init();
        is_started_ = true;
        if (hooks_.write && !hooks_.write(bytes)) return false;
        committed_ += bytes.size();
        return true;
    }

    WriterHooks hooks_;
    std::vector<std::byte> reserved_;
    bool is_unsettled_ = false;  // reserved_ was committed and refused
    bool is_started_ = false;
    std::atomic<unsigned long long> committed_{0};
};

struct OwnedWriter {
    explicit OwnedWriter(std::unique_ptr<ByteSink> owned) : sink(std::move(owned)), out(*sink) {}
    std::unique_ptr<ByteSink> sink;
    WholeWriter out;
};

}  // namespace

std::unique_ptr<ByteSink> make_hook_sink(WriterHooks hooks) {
    return std::make_unique<HookSink>(std::move(hooks));
}

WriterHooks make_hooks(std::unique_ptr<ByteSink> sink) {
    const auto writer = std::make_shared<OwnedWriter>(std::move(sink));
    WriterHooks hooks;
    hooks.write = [writer](std::span<const std::byte> bytes) {
        return writer->out.put(bytes) == BlockFate::taken;
    };
    hooks.flush = [writer] {
        writer->out.pay();
        writer->sink->flush();
    };
    hooks.stop = [writer] {
        writer->out.pay();
        // A hook has no way to say it; whoever cares asks the sink itself.
        static_cast<void>(writer->sink->close());
    };
    return hooks;
}

}  // namespace tracer::eventlog
