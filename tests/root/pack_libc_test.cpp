// SPDX-License-Identifier: Apache-2.0
//
// The pack of the C library: each allocation of a program of ours with its size and address, each
// free, each wait for a mutex.
#include "root/pack_script.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <set>
#include <tuple>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using Call = std::tuple<std::string, uint64_t, uint64_t>;  // name, size, address

std::vector<Call> told_calls(const nlohmann::json& told) {
    std::vector<Call> calls;
    for (const auto& call : told.at("calls")) {
        calls.emplace_back(call.at("name"), call.at("size"), call.at("address"));
    }
    return calls;
}

// Sizes of a span's begin, addresses of its end; of one thread, where such calls do not nest.
std::vector<Call> recorded_calls(const FxtFile& file, const std::vector<Call>& told) {
    std::set<uint64_t> sizes;
    std::set<std::string> names;
    for (const auto& [name, size, address] : told) {
        names.insert(name);
        sizes.insert(size);
    }
    std::vector<Call> calls;
    bool is_open = false;
    for (const FxtEvent& event : file.events) {
        if (!names.contains(std::string(event.name))) continue;
        if (event.type == FxtEventType::duration_begin) {
            const auto size = integer_argument(file, event, "size");
            is_open = size && sizes.contains(*size);
            if (is_open) calls.emplace_back(event.name, *size, 0);
        } else if (event.type == FxtEventType::duration_end && is_open) {
            std::get<2>(calls.back()) = integer_argument(file, event, "address").value_or(0);
            is_open = false;
        }
    }
    return calls;
}

void expect_calls(const RecordedScript& outcome) {
    auto told = told_calls(outcome.counts);
    const auto recorded = recorded_calls(outcome.recorded.file, told);
    ASSERT_EQ(recorded.size(), told.size());
    for (size_t i = 0; i < told.size(); ++i) {
        auto& [name, size, address] = told[i];
        // posix_memalign returns a status, and its block by a pointer. calloc's address is missing
        // where it leaves by a jump to memset; where it is there it is the right one.
        const bool is_missing = name == "calloc" && std::get<2>(recorded[i]) == 0;
        if (name == "posix_memalign" || is_missing) address = 0;
    }
    EXPECT_EQ(recorded, told);
}

void expect_frees(const RecordedScript& outcome) {
    const auto told = outcome.counts.at("freed").get<std::vector<uint64_t>>();
    const std::set<uint64_t> ours(told.begin(), told.end());
    std::vector<uint64_t> recorded;
    for (const FxtEvent* event : events_of(outcome.recorded.file, "free")) {
        const auto address = integer_argument(outcome.recorded.file, *event, "address");
        if (address && ours.contains(*address)) recorded.push_back(*address);
    }
    EXPECT_EQ(recorded, told);
}

size_t spans_of_mutex(const RecordedScript& outcome, std::string_view name) {
    size_t count = 0;
    const auto& file = outcome.recorded.file;
    for (const FxtEvent* event : events_of(file, name, FxtEventType::duration_begin)) {
        if (integer_argument(file, *event, "mutex") == outcome.counts.at("mutex")) ++count;
    }
    return count;
}

// Waits where the library's symbols are on this machine (libc6-dbg), else every lock.
void expect_waits(const RecordedScript& outcome) {
    const size_t waits = spans_of_mutex(outcome, "mutex wait");
    if (waits != 0) {
        EXPECT_EQ(waits, outcome.counts.at("waits"));
    } else {
        EXPECT_EQ(spans_of_mutex(outcome, "mutex lock"), outcome.counts.at("locks"));
    }
}

TEST(PackLibc, EveryAllocationIsASpanWithItsSizeAndAddress) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    for (const auto start : {PackStart::while_running, PackStart::from_the_first_instruction}) {
        SCOPED_TRACE(static_cast<int>(start));
        const auto outcome = record_script(start, {target_path("allocations")},
                                           {"--packs", "libc", "--level", "all"});
        ASSERT_TRUE(outcome) << outcome.error().what;
        expect_sound(outcome->recorded);
        expect_nothing_lost(outcome->recorded);
        expect_calls(*outcome);
        expect_frees(*outcome);
        expect_waits(*outcome);
    }
}

TEST(PackLibc, NothingIsArmedBelowTheHighestLevel) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto outcome = record_script(PackStart::while_running, {target_path("allocations")},
                                       {"--packs", "libc", "--level", "more"});
    ASSERT_TRUE(outcome) << outcome.error().what;
    expect_sound(outcome->recorded);
    EXPECT_EQ(span_count(outcome->recorded.file, "malloc"), 0u);
}

}  // namespace
}  // namespace tracer::test
