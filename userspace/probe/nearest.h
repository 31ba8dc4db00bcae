// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// Finds the candidates most like a name that was not found, for hints.
class NearestNames {
public:
    explicit NearestNames(std::string wanted) : wanted_(std::move(wanted)) {}

    void offer(std::string_view candidate);

    // The best, at most three, nearest first; only such that a slip of the finger could explain.
    [[nodiscard]] std::vector<std::string> best() const;

    // "did you mean a, b or c?", or empty.
    [[nodiscard]] std::string hint() const;

private:
    struct Candidate {
        size_t distance;
        std::string name;
    };
    std::string wanted_;
    std::vector<Candidate> best_;
};

// Insertions, deletions, replacements and swaps of neighbours that lead from one text to the
// other; `limit` + 1 when more than `limit`.
[[nodiscard]] size_t edit_distance(std::string_view a, std::string_view b, size_t limit);

}  // namespace tracer
