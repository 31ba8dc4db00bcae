// SPDX-License-Identifier: Apache-2.0
//
// Random records of a Fuchsia trace, right by the format: for round trips and for fuzzing.
#pragma once

#include "support/fxt_records.h"

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace tracer::test {

// A number below `bound`, which is not 0: from a seeded generator or from a fuzzer's input.
using FxtChoice = std::function<uint64_t(uint64_t bound)>;

struct FxtGenerated {
    FxtPayload payload;
    std::vector<FxtArgument> arguments;
};

class FxtGenerator {
public:
    explicit FxtGenerator(FxtChoice choose) : choose_(std::move(choose)) {}

    // Any record. Strings, threads and providers define what later records may use; threads, names
    // and ids are few, so that they recur. Valid until the next call.
    [[nodiscard]] const FxtGenerated& any_record();

    // One that is neither a definition nor about providers and clocks: what a user of a writer
    // writes. Valid until the next call.
    [[nodiscard]] const FxtGenerated& written_record();

private:
    void begin();
    FxtPayload definition();
    FxtPayload written();
    FxtEvent event();
    FxtBlobRecord blob();
    FxtUserspaceObject userspace_object();
    FxtKernelObject kernel_object();
    FxtSwitch context_switch();
    FxtWakeup wakeup();
    FxtLegacySwitch legacy_switch();
    FxtLog log();
    FxtLargeBlob large_blob();
    FxtThread thread();
    FxtArgumentRange arguments();
    FxtValue value();
    FxtValue number_value();
    std::string_view name();
    std::string_view text(size_t bytes_max);
    uint64_t number();
    uint64_t below(uint64_t bound) { return choose_(bound); }

    FxtChoice choose_;
    FxtGenerated made_;
    std::deque<std::string> texts_;  // of made_
    size_t text_bytes_left_ = 0;     // that the record has room for
    std::set<uint32_t> providers_{0};
};

}  // namespace tracer::test
