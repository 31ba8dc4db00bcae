// SPDX-License-Identifier: Apache-2.0
//
// What a wildcard may find hundreds of times, told in a line each.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracer {

// "3 places left out, REASON: NAME, NAME, NAME", with a few of the names if there are many.
[[nodiscard]] std::string left_out_line(std::vector<std::string> names, std::string_view reason);

// Gathers while probes are compiled.
class CompileWarnings {
public:
    // `reason` follows "left out,"; `name` is the probe's text.
    void leave_out(const std::string& reason, std::string name);

    // The probe `name` is the kernel's return probe although exceptions may pass: the function is
    // `obstacle`.
    void return_probe_meets_exceptions(const std::string& obstacle, std::string name);

    // The probe `name` is on an instruction that the kernel single-steps. `cheaper`: another that
    // may do as well, with what it lacks; empty: none.
    void single_stepped(std::string name, std::string cheaper);

    [[nodiscard]] std::vector<std::string> lines() const;

private:
    [[nodiscard]] std::string exceptions_line() const;
    [[nodiscard]] std::string single_stepped_line() const;

    std::map<std::string, std::vector<std::string>> left_out_;  // by reason
    std::map<std::string, std::string> exceptions_;             // obstacles, by name
    std::map<std::string, std::string> single_stepped_;         // what is cheaper, by name
};

}  // namespace tracer
