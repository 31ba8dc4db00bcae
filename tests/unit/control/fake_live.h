// SPDX-License-Identifier: Apache-2.0
//
// A recording that notes what it was asked, and answers a change of its sink when told to.
#pragma once

#include "session/live.h"

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tracer::test {

class FakeLive : public LiveRecording {
public:
    LiveStatus status() override {
        calls.push_back("status");
        LiveStatus status;
        status.events = 42;
        status.output = "/tmp/caf\xe9.fxt";  // no UTF-8
        status.target = "a fake";
        return status;
    }
    void flush() override { calls.push_back("flush"); }
    void stop() override { calls.push_back("stop"); }
    Status mark(std::string_view text) override {
        calls.push_back("mark " + std::string(text));
        return {};
    }
    Status snapshot(const std::string& reason) override {
        calls.push_back("snapshot " + reason);
        return {};
    }
    Result<BuffersChanged> change_buffers(const BuffersChange& change) override {
        calls.push_back("buffers " + std::to_string(change.rings ? change.rings->bytes : 0) + " " +
                        std::to_string(change.sink_bytes));
        if (!change.rings) return fail(ErrorCode::limit, "no size");
        return BuffersChanged{.ring_bytes = change.rings->bytes, .sink_bytes = change.sink_bytes};
    }
    Result<TakenChunk> take_chunk(bool end_current) override {
        calls.push_back(end_current ? "chunks now" : "chunks");
        TakenChunk taken;
        if (chunks.empty()) return taken;
        const std::string text = chunks.front();
        chunks.erase(chunks.begin());
        MemoryChunk chunk{.memory = std::make_unique<std::byte[]>(text.size()),
                          .size = text.size(),
                          .capacity = text.size()};
        std::memcpy(chunk.memory.get(), text.data(), text.size());
        taken.chunk = std::move(chunk);
        taken.number = ++chunks_taken;
        taken.waiting = chunks.size();
        return taken;
    }
    Result<GateChange> pause() override { return change_gate(true); }
    Result<GateChange> resume() override { return change_gate(false); }
    void change_sink(const SinkChange& change, SinkChangeDone done) override {
        calls.push_back("sink " + change.target + (change.keep_old ? " keep" : "") +
                        (change.start == SinkStart::goes_on ? " goes on" : ""));
        is_slow ? pending.push_back(std::move(done)) : done(SinkChanged{.output = change.target});
    }
    void restore_sink(const SinkChange&, SinkChangeDone done) override {
        calls.push_back("restore");
        done(fail(ErrorCode::not_found, "no sink is kept", "cure"));
    }
    void add_readable(int fd, std::function<void()> handler) override {
        handlers[fd] = std::move(handler);
    }
    void forget_readable(int fd) override { handlers.erase(fd); }

    std::vector<std::string> calls;
    std::vector<std::string> chunks;
    uint64_t chunks_taken = 0;
    bool is_slow = false;
    std::vector<SinkChangeDone> pending;
    std::map<int, std::function<void()>> handlers;
    bool is_paused = false;

private:
    Result<GateChange> change_gate(bool pauses) {
        calls.push_back(pauses ? "pause" : "resume");
        const bool was_paused = std::exchange(is_paused, pauses);
        return GateChange{.is_changed = was_paused != pauses, .paused_seconds = 1.5};
    }
};

}  // namespace tracer::test
