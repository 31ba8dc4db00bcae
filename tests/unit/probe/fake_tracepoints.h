// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbol/tracefs.h"

#include <map>

namespace tracer::test {

// A kernel with three tracepoints, described as tracefs does it.
class FakeTracepoints : public TracepointCatalog {
public:
    FakeTracepoints();

    [[nodiscard]] Result<std::vector<std::string>> categories() const override;
    [[nodiscard]] Result<std::vector<std::string>> names(
        const std::string& category) const override;
    [[nodiscard]] Result<TracepointFormat> format(const std::string& category,
                                                  const std::string& name) const override;

private:
    std::map<std::string, std::map<std::string, std::string>> formats_;
};

}  // namespace tracer::test
