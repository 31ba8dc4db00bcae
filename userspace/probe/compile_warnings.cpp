// SPDX-License-Identifier: Apache-2.0
//
// Warnings with a count. Called by the probe compilers; the line of what is left out by the kernel
// recorder too.
#include "probe/compile_warnings.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace tracer {

std::string left_out_line(std::vector<std::string> names, std::string_view reason) {
    constexpr size_t kNamesMax = 5;
    const size_t count = names.size();
    names.resize(std::min(count, kNamesMax));
    return fmt::format("{} place{} left out, {}{}: {}", count, count == 1 ? "" : "s", reason,
                       count > kNamesMax ? ", among them" : "", fmt::join(names, ", "));
}

void CompileWarnings::leave_out(const std::string& reason, std::string name) {
    left_out_[reason].push_back(std::move(name));
}

void CompileWarnings::return_probe_meets_exceptions(const std::string& path, uint64_t file_offset) {
    exceptions_[path].insert(file_offset);
}

std::vector<std::string> CompileWarnings::lines() const {
    std::vector<std::string> lines;
    for (const auto& [reason, names] : left_out_) lines.push_back(left_out_line(names, reason));
    for (const auto& [path, places] : exceptions_) {
        lines.push_back(fmt::format(
            "{} handles exceptions: one, or a thread's cancellation, that passes through {} with a "
            "return probe ends the program (std::terminate)",
            path,
            places.size() == 1 ? "the function"
                               : fmt::format("one of the {} functions", places.size())));
    }
    return lines;
}

}  // namespace tracer
