// SPDX-License-Identifier: Apache-2.0
//
// What a program's own runtime says of its threads and its collector (model::PointRole), as the
// log of a Haskell program has it: capabilities and threads are the runtime's, not the kernel's.
// Used by the eventlog writer for a recording of one process, README.md.
#pragma once

#include "tracer/model/definition.h"
#include "tracer/model/event.h"
#include "write/eventlog/writer_blocks.h"
#include "write/eventlog/writer_timeline.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tracer::eventlog {

// Values by the names of their arguments.
class NamedValues {
public:
    NamedValues(const std::vector<model::Argument>& arguments, std::span<const model::Value> values)
        : arguments_(arguments), values_(values) {}

    [[nodiscard]] bool declares(std::string_view name) const;
    // nullopt: there is none, or it could not be read.
    [[nodiscard]] std::optional<uint64_t> number(std::string_view name) const;
    [[nodiscard]] uint64_t number_or_0(std::string_view name) const {
        return number(name).value_or(0);
    }
    // The first that is text; empty: none.
    [[nodiscard]] std::string_view first_text() const;

private:
    const std::vector<model::Argument>& arguments_;
    std::span<const model::Value> values_;
};

// Times are nanoseconds from the log's begin. Before each call there is room for
// Timeline::kEventBytesMax.
class RuntimeLog {
public:
    explicit RuntimeLog(WriterBlocks& blocks) : blocks_(blocks), timeline_(blocks) {}

    // False: the event says too little, or what no log can say; nothing was written.
    [[nodiscard]] bool begin_run(uint64_t ns, model::ThreadIndex runner, const NamedValues& values);
    [[nodiscard]] bool end_run(uint64_t ns,
                               model::ThreadIndex runner,
                               model::SpanEndCause cause,
                               const NamedValues& values);
    void begin_gc(uint64_t ns, model::ThreadIndex runner, const NamedValues& values);
    [[nodiscard]] bool end_gc(uint64_t ns,
                              model::ThreadIndex runner,
                              model::SpanEndCause cause,
                              const NamedValues& values);
    [[nodiscard]] bool create(uint64_t ns, const NamedValues& values);
    [[nodiscard]] bool wake(uint64_t ns, const NamedValues& values);
    [[nodiscard]] bool label(const NamedValues& values);

    // Of a message: the capability that it names, or the one that the kernel's thread runs.
    [[nodiscard]] CapNo cap_of(uint64_t ns, model::ThreadIndex runner, const NamedValues& values);
    // kNoCapability: none.
    [[nodiscard]] CapNo cap_of_runner(model::ThreadIndex runner) const;

    // What runs is not known any more.
    void break_all(uint64_t ns);
    void write_labels(uint64_t ns) { timeline_.write_labels(ns); }
    [[nodiscard]] size_t waiting_labels() const { return timeline_.waiting_labels(); }
    [[nodiscard]] size_t cap_count() const { return timeline_.cap_count(); }
    // As Timeline's: of the log that follows.
    void begin_log() { timeline_.begin_log(); }

private:
    struct Running {
        CapNo cap = kNoCapability;
        uint32_t thread = 0;
    };
    struct Collection {
        uint64_t begin_ns = 0;
        uint64_t generation = 0;
    };

    // kNoCapability: no value, or no such number. Those below are announced before it, so that the
    // log's numbers are the runtime's.
    [[nodiscard]] CapNo capability(uint64_t ns, std::optional<uint64_t> number);
    // nullptr: no value.
    [[nodiscard]] Task* thread(std::optional<uint64_t> number);
    void forget_if_finished(uint32_t number);
    void tell_misread(uint64_t ns);

    WriterBlocks& blocks_;
    Timeline timeline_;
    std::unordered_map<uint32_t, Task*> threads_;           // alive, by number
    std::unordered_map<uint32_t, Running> running_;         // by the kernel's thread
    std::unordered_map<uint32_t, Collection> collections_;  // the same
    bool is_misread_told_ = false;
};

}  // namespace tracer::eventlog
