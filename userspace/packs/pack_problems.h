// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packs/pack_file.h"
#include "packs/toml_document.h"

#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// Gathers what is to be said about one pack's text, which it borrows.
class PackProblems {
public:
    PackProblems(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {}

    void refuse(const TextPlace& place, std::string_view message, std::string hint = {}) {
        add(false, place, message, std::move(hint));
    }
    void warn(const TextPlace& place, std::string_view message, std::string hint = {}) {
        add(true, place, message, std::move(hint));
    }

    [[nodiscard]] bool is_refused() const { return is_refused_; }
    // In the order of the text; leaves none.
    [[nodiscard]] std::vector<PackProblem> take();

private:
    void add(bool is_warning, const TextPlace& place, std::string_view message, std::string hint);

    std::string_view text_;
    std::string_view origin_;
    bool is_refused_ = false;
    std::vector<PackProblem> problems_;
};

}  // namespace tracer
