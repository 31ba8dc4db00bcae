// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean" for probe, symbol and tracepoint names. Called where a name was not found, with
// tables of up to some hundred thousand names.
#include "probe/nearest.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr size_t kBestMax = 3;
constexpr size_t kNameBytesMax = 256;

size_t limit_for(std::string_view wanted) {
    return std::max<size_t>(2, wanted.size() / 3);
}

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b, size_t limit) {
    const size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
    if (gap > limit) return limit + 1;
    std::vector<size_t> before_last(b.size() + 1);
    std::vector<size_t> last(b.size() + 1);
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        size_t smallest = row[0];
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
            smallest = std::min(smallest, row[j]);
        }
        // No later row can be smaller than this one's smallest.
        if (smallest > limit) return limit + 1;
        std::swap(before_last, last);
        std::swap(last, row);
    }
    return std::min(last[b.size()], limit + 1);
}

void NearestNames::offer(std::string_view candidate) {
    if (candidate.size() > kNameBytesMax || wanted_.size() > kNameBytesMax) return;
    const size_t limit = best_.size() == kBestMax ? best_.back().distance : limit_for(wanted_);
    size_t distance = edit_distance(wanted_, candidate, limit);
    if (distance > limit) {
        // A part of the name alone is a near miss too: "start" for "gc__start".
        const bool is_part = wanted_.size() >= 3 && candidate.find(wanted_) != candidate.npos;
        if (!is_part || best_.size() == kBestMax) return;
        distance = limit_for(wanted_);
    }
    for (const auto& known : best_) {
        if (known.name == candidate) return;
    }
    Candidate entry{distance, std::string(candidate)};
    auto place = std::upper_bound(
        best_.begin(), best_.end(), entry, [](const Candidate& left, const Candidate& right) {
            return std::tie(left.distance, left.name) < std::tie(right.distance, right.name);
        });
    best_.insert(place, std::move(entry));
    if (best_.size() > kBestMax) best_.pop_back();
}

std::vector<std::string> NearestNames::best() const {
    std::vector<std::string> names;
    for (const auto& candidate : best_) names.push_back(candidate.name);
    return names;
}

std::string NearestNames::hint() const {
    if (best_.empty()) return {};
    std::string text = "did you mean ";
    for (size_t i = 0; i < best_.size(); ++i) {
        if (i != 0) text += i + 1 == best_.size() ? " or " : ", ";
        text += best_[i].name;
    }
    return text + "?";
}

}  // namespace tracer
