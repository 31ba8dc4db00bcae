// SPDX-License-Identifier: Apache-2.0
//
// A visitor that spells what it is told as the samples' expected lines do.
#pragma once

#include "tracer/ring/cursor.h"

#include <string>
#include <vector>

namespace tracer::test {

class RingLines : public ring::Visitor {
public:
    // Borrows the cursor, for names.
    explicit RingLines(ring::Cursor& cursor) : cursor_(cursor) {}

    ring::Flow on_event(const ring::Event& event) override;
    ring::Flow on_lost(const ring::Lost& lost) override;
    ring::Flow on_restart() override;

    [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

private:
    ring::Cursor& cursor_;
    std::vector<std::string> lines_;
};

}  // namespace tracer::test
