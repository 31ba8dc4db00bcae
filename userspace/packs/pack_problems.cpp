// SPDX-License-Identifier: Apache-2.0
//
// Faults of a pack's text, each with its line under it and carets under the token. Called by the
// reader of packs; a text holds at most kPackFileBytesMax.
#include "packs/pack_problems.h"

#include "probe/caret.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace tracer {

namespace {

// Of a line as it is shown; a longer one is cut to what surrounds the token.
constexpr size_t kShownBytesMax = 240;
constexpr size_t kShownBefore = 80;
constexpr size_t kProblemsMax = 1000;

bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

size_t characters(std::string_view text) {
    return static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

// Moves to where a character begins.
size_t aligned(std::string_view text, size_t at) {
    while (at < text.size() && is_continuation(text[at])) ++at;
    return at;
}

}  // namespace

void PackProblems::add(bool is_warning,
                       const TextPlace& place,
                       std::string_view message,
                       std::string hint) {
    is_refused_ = is_refused_ || !is_warning;
    if (problems_.size() >= kProblemsMax) return;
    const size_t offset = std::min(place.offset, text_.size());
    const auto before = text_.substr(0, offset);
    const size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
    const size_t line_end = std::min(text_.find_first_of("\r\n", offset), text_.size());
    std::string_view line = text_.substr(line_begin, line_end - line_begin);
    size_t inside = offset - line_begin;

    PackProblem problem;
    problem.is_warning = is_warning;
    problem.line = static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n') + 1);
    problem.column = static_cast<uint32_t>(characters(line.substr(0, inside)) + 1);
    if (line.size() > kShownBytesMax) {
        const size_t cut = aligned(line, inside > kShownBefore ? inside - kShownBefore : 0);
        inside -= std::min(cut, inside);
        line = line.substr(cut);
        line = line.substr(0, aligned(line, std::min(kShownBytesMax, line.size())));
    }
    problem.error =
        fail_at(line, inside, place.length,
                fmt::format("{}:{}:{}: {}", origin_, problem.line, problem.column, message),
                std::move(hint))
            .value();
    problems_.push_back(std::move(problem));
}

std::vector<PackProblem> PackProblems::take() {
    std::stable_sort(
        problems_.begin(), problems_.end(), [](const PackProblem& left, const PackProblem& right) {
            return std::tie(left.line, left.column) < std::tie(right.line, right.column);
        });
    return std::exchange(problems_, {});
}

}  // namespace tracer
