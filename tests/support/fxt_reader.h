// SPDX-License-Identifier: Apache-2.0
//
// A checked reader of Fuchsia traces, for tests: it says what a file holds and everything that is
// wrong with it. Written from the format's document and shares nothing with the writer, so that a
// misunderstanding on one side shows on the other.
#pragma once

#include "tracer/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <variant>
#include <vector>

namespace tracer::test {

struct FxtPointer {
    uint64_t address = 0;
    bool operator==(const FxtPointer&) const = default;
};
struct FxtKoid {
    uint64_t id = 0;
    bool operator==(const FxtKoid&) const = default;
};
struct FxtBlob {
    uint64_t bytes = 0;
    bool operator==(const FxtBlob&) const = default;
};

// One argument's value with the type it has in the file; monostate is null.
using FxtValue = std::variant<std::monostate,
                              int32_t,
                              uint32_t,
                              int64_t,
                              uint64_t,
                              double,
                              std::string_view,
                              FxtPointer,
                              FxtKoid,
                              bool,
                              FxtBlob>;

struct FxtArgument {
    std::string_view name;
    FxtValue value;
};

// Where a record's arguments are in FxtFile::arguments.
struct FxtArgumentRange {
    size_t first = 0;
    size_t count = 0;
};

enum class FxtEventType : uint8_t {
    instant,
    counter,
    duration_begin,
    duration_end,
    duration_complete,
    async_begin,
    async_instant,
    async_end,
    flow_begin,
    flow_step,
    flow_end,
};

struct FxtEvent {
    uint64_t time = 0;
    FxtEventType type{};
    uint64_t last_word = 0;  // counter id, end time, async or flow id
    std::string_view category;
    std::string_view name;
    uint64_t pid = 0;
    uint64_t tid = 0;
    FxtArgumentRange arguments;
};

struct FxtSwitch {
    uint64_t time = 0;
    uint16_t cpu = 0;
    uint8_t out_state = 0;
    uint64_t out_tid = 0;
    uint64_t in_tid = 0;
    FxtArgumentRange arguments;
};

struct FxtWakeup {
    uint64_t time = 0;
    uint16_t cpu = 0;
    uint64_t tid = 0;
    FxtArgumentRange arguments;
};

struct FxtKernelObject {
    uint8_t type = 0;  // 1 process, 2 thread
    uint64_t koid = 0;
    std::string_view name;
    FxtArgumentRange arguments;
};

struct FxtString {
    uint16_t index = 0;
    std::string_view text;
};

struct FxtThread {
    uint8_t index = 0;
    uint64_t pid = 0;
    uint64_t tid = 0;
};

enum class FxtRecordKind : uint8_t {
    magic,
    provider_info,  // item: FxtFile::providers
    provider_section,
    provider_event,
    initialization,  // item: FxtFile::tick_rates
    string,          // item: FxtFile::strings
    thread,          // item: FxtFile::threads
    event,           // item: FxtFile::events
    kernel_object,   // item: FxtFile::objects
    context_switch,  // item: FxtFile::switches
    wakeup,          // item: FxtFile::wakeups
    blob,
    skipped,  // a type this reader has no use for, or one that it could not read
};

struct FxtRecord {
    uint64_t offset = 0;  // bytes
    uint16_t words = 0;
    FxtRecordKind kind{};
    size_t item = 0;  // in the list of its kind
};

struct FxtProvider {
    uint32_t id = 0;
    std::string_view name;
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
    std::vector<FxtProvider> providers;
    std::vector<uint64_t> tick_rates;
    std::vector<FxtString> strings;
    std::vector<FxtThread> threads;
    std::vector<FxtEvent> events;
    std::vector<FxtKernelObject> objects;
    std::vector<FxtSwitch> switches;
    std::vector<FxtWakeup> wakeups;
    std::vector<FxtArgument> arguments;

    // What is wrong, each with the record's offset. Empty for every file that the tracer writes.
    std::vector<std::string> problems;
    size_t problem_count = 0;           // of all; `problems` keeps the first thousand
    size_t open_span_count = 0;         // begun and never ended; readers draw them to the end
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
[[nodiscard]] FxtFile parse_fxt(std::span<const std::byte> bytes);

[[nodiscard]] Result<FxtFile> load_fxt(const std::string& path);

}  // namespace tracer::test
