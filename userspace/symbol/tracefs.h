// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbol/tracepoint_format.h"
#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"

#include <string>
#include <vector>

namespace tracer {

// The tracepoints that a kernel has: tracefs, or a test's fake.
class TracepointCatalog {
public:
    virtual ~TracepointCatalog() = default;
    [[nodiscard]] virtual Result<std::vector<std::string>> categories() const = 0;
    [[nodiscard]] virtual Result<std::vector<std::string>> names(
        const std::string& category) const = 0;
    [[nodiscard]] virtual Result<TracepointFormat> format(const std::string& category,
                                                          const std::string& name) const = 0;
};

// The running kernel's tracefs: a mount that is there, else one of our own that no other process
// can see and that goes away with this object.
class Tracefs : public TracepointCatalog {
public:
    [[nodiscard]] static Result<Tracefs> open();

    [[nodiscard]] Result<std::vector<std::string>> categories() const override;
    [[nodiscard]] Result<std::vector<std::string>> names(
        const std::string& category) const override;
    [[nodiscard]] Result<TracepointFormat> format(const std::string& category,
                                                  const std::string& name) const override;

    // The number that perf_event_open takes.
    [[nodiscard]] Result<uint32_t> id(const std::string& category, const std::string& name) const;

    // The root folder, for openat.
    [[nodiscard]] int root_fd() const { return root_.get(); }

private:
    explicit Tracefs(UniqueFd root) : root_(std::move(root)) {}
    [[nodiscard]] Result<std::string> read(const std::string& path) const;
    [[nodiscard]] Result<std::vector<std::string>> folders(const std::string& path) const;

    UniqueFd root_;
};

}  // namespace tracer
