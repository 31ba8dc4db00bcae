// SPDX-License-Identifier: Apache-2.0
//
// Runs of tests/support/targets/pack_ghc.hs that are recorded as an eventlog, and what they say of
// themselves.
#pragma once

#include "root/recorded_eventlog.h"
#include "support/fixtures/temp_folder.h"
#include "support/fixtures/tracer_run.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::test {

struct RecordedGhc {
    TracerResult result;
    EventlogFile log;
    std::string said;  // of +RTS -t

    // Of one pack's probe in the summary; null: there is none.
    [[nodiscard]] nlohmann::json row(const std::string& probe) const;
    // Of all probes with that in their text.
    [[nodiscard]] uint64_t hits(std::string_view text) const;
};

// From its first instruction to its end: started by the tracer.
[[nodiscard]] Result<RecordedGhc> record_started_ghc(
    const TempFolder& folder,
    const std::string& program,
    const std::vector<std::string>& options,
    const std::vector<std::string>& runtime_options = {});

// A program that was started with an argument, which it waits behind, and with +RTS -t. The command
// runs already when the tracer comes, and goes on then.
struct WaitingGhc {
    std::vector<std::string> command;
    std::string said;  // file of +RTS -t
    std::string log;   // to record to
};
[[nodiscard]] Result<RecordedGhc> record_waiting_ghc(const WaitingGhc& program,
                                                     const std::vector<std::string>& options);

// Collections, by generation, and the bytes they copied are those of +RTS -t.
void expect_collections(const RecordedGhc& program);

// Runs of threads end for the reasons, and as often, as the program's own log says, and labels and
// messages are its own: all of it, or what lies behind its wait for the tracer.
enum class OwnLogPart : uint8_t { whole, behind_wait };
void expect_threads_of_own_log(const RecordedGhc& program,
                               const std::string& own_path,
                               OwnLogPart part);

}  // namespace tracer::test
