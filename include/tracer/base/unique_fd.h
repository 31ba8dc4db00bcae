// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace tracer {

// Owns one file descriptor; -1 is none. Not thread safe.
class UniqueFd {
public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) : fd_(fd) {}
    ~UniqueFd() { reset(); }
    UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept {
        if (this != &other) reset(other.release());
        return *this;
    }
    UniqueFd(const UniqueFd&) = delete;
    UniqueFd& operator=(const UniqueFd&) = delete;

    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool valid() const { return fd_ >= 0; }
    [[nodiscard]] int release() { return std::exchange(fd_, -1); }
    // Closes what it owned; errors of close(2) are not reported (flush first where they matter).
    void reset(int fd = -1);

private:
    int fd_ = -1;
};

}  // namespace tracer
