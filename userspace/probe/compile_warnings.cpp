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

void CompileWarnings::return_probe_meets_exceptions(const std::string& obstacle, std::string name) {
    exceptions_.insert_or_assign(std::move(name), obstacle);
}

std::vector<std::string> CompileWarnings::lines() const {
    std::vector<std::string> lines;
    for (const auto& [reason, names] : left_out_) lines.push_back(left_out_line(names, reason));
    if (!exceptions_.empty()) lines.push_back(exceptions_line());
    if (!single_stepped_.empty()) lines.push_back(single_stepped_line());
    return lines;
}

void CompileWarnings::single_stepped(std::string name, std::string cheaper) {
    single_stepped_.insert_or_assign(std::move(name), std::move(cheaper));
}

std::string CompileWarnings::exceptions_line() const {
    constexpr size_t kToldMax = 3;
    std::vector<std::string> told;
    for (const auto& [name, obstacle] : exceptions_) {
        if (told.size() < kToldMax) told.push_back(fmt::format("{} ({})", name, obstacle));
    }
    const size_t count = exceptions_.size();
    return fmt::format(
        "{} function{} with the kernel's return probe, where an exception that passes ends the "
        "program (std::terminate), as {} ret instructions cannot all be found{}: {}; leave out "
        "those that call back into C++ or Rust",
        count, count == 1 ? "" : "s", count == 1 ? "its" : "their",
        count > kToldMax ? ", among them" : "", fmt::join(told, ", "));
}

std::string CompileWarnings::single_stepped_line() const {
    constexpr size_t kToldMax = 3;
    std::vector<std::string> names;
    std::vector<std::string> cheaper;
    for (const auto& [name, other] : single_stepped_) {
        if (names.size() < kToldMax) names.push_back(name);
        if (!other.empty() && cheaper.size() < kToldMax) cheaper.push_back(other);
    }
    const size_t count = single_stepped_.size();
    auto line = fmt::format(
        "{} probe{} on instructions that the kernel single-steps, 3 to 15 times dearer in a "
        "virtual machine{}: {}",
        count, count == 1 ? " is" : "s are", count > kToldMax ? ", among them" : "",
        fmt::join(names, ", "));
    if (!cheaper.empty()) line += fmt::format("; cheaper: {}", fmt::join(cheaper, ", "));
    return line;
}

}  // namespace tracer
