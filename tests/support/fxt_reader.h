// SPDX-License-Identifier: Apache-2.0
//
// A checked reader of Fuchsia traces, for tests: it says what a file holds and everything that is
// wrong with it. Written from the format's document and shares nothing with the writer, so that a
// misunderstanding on one side shows on the other.
#pragma once

#include "support/fxt_records.h"
#include "support/fxt_stream.h"
#include "tracer/base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace tracer::test {

struct FxtRecord {
    uint64_t offset = 0;  // bytes
    uint64_t words = 0;
    uint32_t provider = 0;  // whose tables and tick rate hold here
    FxtRecordKind kind{};
    size_t item = 0;  // in the list of its kind
};

// A whole file. Texts point into `texts`, which moves along.
struct FxtFile {
    FxtFile() = default;
    ~FxtFile() = default;
    FxtFile(FxtFile&&) = default;
    FxtFile& operator=(FxtFile&&) = default;
    FxtFile(const FxtFile&) = delete;  // the texts would stay behind
    FxtFile& operator=(const FxtFile&) = delete;

    std::vector<FxtRecord> records;  // in the order of the file
    // One list a kind, each in the order of the file.
    std::vector<FxtProvider> providers;
    std::vector<FxtProviderSection> provider_sections;
    std::vector<FxtProviderEvent> provider_events;
    std::vector<FxtInitialization> initializations;
    std::vector<FxtString> strings;
    std::vector<FxtThread> threads;
    std::vector<FxtEvent> events;
    std::vector<FxtBlobRecord> blobs;
    std::vector<FxtUserspaceObject> userspace_objects;
    std::vector<FxtKernelObject> objects;
    std::vector<FxtSwitch> switches;
    std::vector<FxtWakeup> wakeups;
    std::vector<FxtLegacySwitch> legacy_switches;
    std::vector<FxtLog> logs;
    std::vector<FxtLargeBlob> large_blobs;
    std::vector<FxtSkipped> skips;
    std::vector<FxtArgument> arguments;

    FxtCounts counts;  // of records and of faults of the format

    // What is wrong, each with the record's offset: faults of the format, then what Perfetto would
    // report, drop or draw wrong. Empty for every file that the tracer writes.
    std::vector<std::string> problems;
    size_t problem_count = 0;     // of all; `problems` keeps the first thousand
    size_t open_span_count = 0;   // begun and never ended; readers draw them to the end
    size_t open_async_count = 0;  // the same for asynchronous ones
    size_t open_flow_count = 0;
    // Right, but nothing that Perfetto shows: objects other than processes and threads, logs,
    // profiler records, raw blobs.
    size_t unshown_count = 0;
    uint64_t truncated_tail_bytes = 0;  // an unfinished last record; not a problem by itself

    std::unordered_set<std::string> texts;

    [[nodiscard]] std::span<const FxtArgument> arguments_of(FxtArgumentRange range) const {
        return std::span(arguments).subspan(range.first, range.count);
    }
    // nullptr: no such argument.
    [[nodiscard]] const FxtValue* find(FxtArgumentRange range, std::string_view name) const;
    // The last name given to a process or thread; empty: none.
    [[nodiscard]] std::string_view process_name(uint64_t pid) const;
    [[nodiscard]] std::string_view thread_name(uint64_t tid) const;
};

// Never fails: what cannot be read is a problem of the file.
[[nodiscard]] FxtFile parse_fxt(std::span<const std::byte> bytes, const FxtLimits& limits = {});

[[nodiscard]] Result<FxtFile> load_fxt(const std::string& path);

// Collects a stream into an FxtFile: feed bytes as they come, then take the file once.
class FxtCollector : private FxtVisitor {
public:
    explicit FxtCollector(const FxtLimits& limits = {}) : stream_(*this, limits) {}
    void feed(std::span<const std::byte> bytes) { stream_.feed(bytes); }
    // Ends the stream and checks what only shows across records. The collector is spent.
    [[nodiscard]] FxtFile finish();

private:
    void on_record(const FxtRecordView& record) override;
    void on_fault(const FxtFaultReport& report) override;

    FxtFile file_;
    FxtStream stream_;
};

}  // namespace tracer::test
