// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decoder_fixture.h"

#include <cstdint>
#include <string_view>

namespace tracer {

// The points and probes of DecoderTest, and four spans that are pairs of probes: each with a begin
// (x:s64), an end (r:s64) and an until.
//   40/41/42 "p" and 43/44/45 "q": matched by thread
//   46/47/48 "k": by a number within a process; 52 ends all that its thread began
//   49/50/51 "s": by a text, among all processes
// and 53/54/55 "d", which has a key of two values within a process, and no end arguments.
class PairTest : public DecoderTest {
protected:
    static constexpr uint32_t kP = 40;
    static constexpr uint32_t kQ = 43;
    static constexpr uint32_t kK = 46;
    static constexpr uint32_t kS = 49;
    static constexpr uint32_t kUntilThread = 52;
    static constexpr uint32_t kD = 53;
    // Added to the above.
    static constexpr uint32_t kEnd = 1;
    static constexpr uint32_t kUntil = 2;

    static RecordingDefinitions pair_definitions();

    void SetUp() override { start(pair_definitions()); }

    void pair(uint64_t time, uint32_t probe, uint32_t tid = 7, uint32_t tgid = 7);
    void keyed(uint64_t time, uint32_t probe, uint64_t key, uint32_t tid = 7, uint32_t tgid = 7);
    void text(uint64_t time, uint32_t probe, std::string_view key, uint32_t tid, uint32_t tgid);
    void two_keys(uint64_t time, uint32_t probe, uint64_t key, uint64_t second);
    void exit(uint64_t time, uint32_t tid, uint32_t tgid, bool is_last);

    [[nodiscard]] SpanTally tally(std::string_view name) const;
};

}  // namespace tracer
