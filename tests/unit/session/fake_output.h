// SPDX-License-Identifier: Apache-2.0
//
// An output that counts records and can fail like a disk.
#pragma once

#include "session/output.h"
#include "tracer/abi/event.h"
#include "tracer/base/byte_cursor.h"

#include <atomic>
#include <map>
#include <string>
#include <vector>

namespace tracer::test {

class FakeOutput : public Output, private RecordHandler {
public:
    RecordHandler& handler() override { return *this; }
    Status add(const std::vector<model::Point>&,
               const std::vector<ProbeDefinition>& probes) override {
        for (const ProbeDefinition& probe : probes) added_probes.push_back(probe.probe_id);
        return {};
    }
    void flush() override { flushes += 1; }
    Status health() const override {
        if (is_full) return fail(ErrorCode::io, "write out.fxt: No space left on device");
        return {};
    }
    uint64_t bytes() const override { return bytes_; }
    uint64_t bytes_now() override { return bytes_; }
    uint64_t bytes_written() const override { return is_full ? bytes_when_full : bytes_.load(); }
    Status check_switch() const override {
        return fail(ErrorCode::missing_feature, "a fake has one sink");
    }
    bool is_appendable() const override { return false; }
    Status switch_sink(std::unique_ptr<ByteSink>&, SinkStart) override { return check_switch(); }
    Status finish(uint64_t, const KernelCounters&) override {
        calls.push_back("finish");
        return {};
    }
    Status close() override {
        calls.push_back("close");
        return health();
    }
    OutputFacts facts() const override {
        OutputFacts facts;
        facts.events = records;
        facts.decoder = decoder;
        facts.writer = writer;
        return facts;
    }
    uint64_t received(uint32_t probe_id) const override {
        const auto found = received_.find(probe_id);
        return found == received_.end() ? 0 : found->second;
    }

    std::atomic<bool> is_full = false;
    uint64_t bytes_when_full = 0;
    std::atomic<uint64_t> records = 0;
    std::atomic<uint64_t> flushes = 0;
    std::atomic<uint64_t> clocks = 0;
    std::vector<std::string> calls;
    std::vector<uint64_t> times;         // of all records but gaps; for the thread that drains
    std::vector<uint32_t> added_probes;  // their ids; for the thread that drains
    DecoderCounters decoder;
    WriterCounters writer;
    std::function<void()> on_hit;

private:
    void on_record(std::span<const std::byte> record) override {
        tr_record_header header{};
        if (!ByteCursor(record).read(header)) return;
        bytes_ += record.size();
        if (header.kind == TR_KIND_clock) clocks += 1;
        if (header.kind == TR_KIND_clock || header.kind == TR_KIND_hit) {
            times.push_back(header.time_ns);
        }
        if (header.kind != TR_KIND_hit) return;
        records += 1;
        received_[header.probe_id] += 1;
        if (on_hit) on_hit();
    }

    std::atomic<uint64_t> bytes_ = 0;
    std::map<uint32_t, uint64_t> received_;
};

}  // namespace tracer::test
