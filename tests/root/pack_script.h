// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "root/recording.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace tracer::test {

// What a tracer of the packs saw of a script that counts (support/targets/pack_*), and its counts.
struct RecordedScript {
    Recorded recorded;
    nlohmann::json counts;
};

// Records `command` with the packs and `arguments`, from before it works until it has counted. It
// runs already when the tracer comes.
[[nodiscard]] Result<RecordedScript> record_running_script(const std::vector<std::string>& command,
                                                           std::vector<std::string> arguments = {});

// The same from its first instruction to its end: started by the tracer.
[[nodiscard]] Result<RecordedScript> record_started_script(const std::vector<std::string>& command,
                                                           std::vector<std::string> arguments = {});

// One or the other.
enum class PackStart : uint8_t { while_running, from_the_first_instruction };
[[nodiscard]] Result<RecordedScript> record_script(PackStart start,
                                                   const std::vector<std::string>& command,
                                                   const std::vector<std::string>& arguments);

// Spans called so; as many end as begin.
[[nodiscard]] size_t span_count(const FxtFile& file, std::string_view name);

// How many events of a process there are by what stands behind `prefix` in their names.
[[nodiscard]] std::map<std::string, uint64_t> counts_behind(
    const FxtFile& file,
    const nlohmann::json& pid,
    std::string_view prefix,
    FxtEventType type = FxtEventType::duration_begin);

// A JSON object of numbers.
[[nodiscard]] std::map<std::string, uint64_t> counts_of(const nlohmann::json& object);

// The row of a pack's probe in the summary, of the first file that the pack has; null: none.
[[nodiscard]] nlohmann::json packed_probe(const nlohmann::json& summary,
                                          std::string_view pack,
                                          std::string_view probe);

}  // namespace tracer::test
