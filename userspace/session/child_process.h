// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tracer {

// The program of `-- cmd`: a child that waits just before exec until the recording is armed, so
// that nothing of it is missed. It stays in the terminal's process group: ^C reaches it too.
class ChildProcess {
public:
    // Forks; to be called while the process has one thread. A command without a '/' is searched in
    // PATH, by this function, so that a wrong name fails before anything is attached.
    [[nodiscard]] static Result<ChildProcess> start(const std::vector<std::string>& command);

    // A child not released ends; one that runs is left running.
    ~ChildProcess();
    ChildProcess(ChildProcess&&) noexcept = default;
    ChildProcess& operator=(ChildProcess&&) = delete;  // the one it replaces would have to end
    ChildProcess(const ChildProcess&) = delete;
    ChildProcess& operator=(const ChildProcess&) = delete;

    [[nodiscard]] uint32_t pid() const { return pid_; }
    [[nodiscard]] const std::string& path() const { return path_; }

    // Lets it exec; returns once it has, or with the reason why not.
    [[nodiscard]] Status release();

    // Takes its wait status if it has ended: "exited with status 3", "was killed by signal 9";
    // empty while it runs.
    [[nodiscard]] std::string reap();

private:
    ChildProcess(uint32_t pid, std::string path, UniqueFd go, UniqueFd failure)
        : pid_(pid), path_(std::move(path)), go_(std::move(go)), failure_(std::move(failure)) {}

    uint32_t pid_;
    std::string path_;
    UniqueFd go_;       // written: exec now; closed: end
    UniqueFd failure_;  // exec's errno, or closed by a good exec
};

}  // namespace tracer
