// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packs/pack_plan.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace tracer {

// Whose probes those of packs are, by their ids.
class PackNames {
public:
    explicit PackNames(const std::vector<PackedFile>& files);

    // "python/gc"; empty: of no pack.
    [[nodiscard]] std::string name_of(uint32_t probe_id) const;

private:
    struct Range {
        uint32_t count = 0;
        std::string name;
    };
    std::map<uint32_t, Range> by_first_id_;
};

// A line for each pack and file in which probes are armed, or miss although they were asked for;
// with `verbose` for all of them. Files of a pack for which the same is to be said share it.
[[nodiscard]] std::string pack_lines(const std::vector<PackedFile>& files, bool verbose);

// What is told when a recording begins, a line each without its end: "python 3.11 recognised in
// /usr/bin/python3.11: gc, imports"; and of each pack what its dearest level costs if it is armed.
[[nodiscard]] std::vector<std::string> recognised_lines(const std::vector<PackedFile>& files);

// A row of "packs" in the JSON summary (README.md).
[[nodiscard]] nlohmann::ordered_json packed_file_json(const PackedFile& file);

}  // namespace tracer
