// SPDX-License-Identifier: Apache-2.0
//
// Files of rings as they are made, held open by the kernel until they are taken: what a program
// writes that ends at once is read all the same.
#pragma once

#include "tracer/base/unique_fd.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace tracer {

// One thread at a time.
class RingFiles {
public:
    struct Made {
        uint32_t pid = 0;  // of who opened it, in the initial namespace
        uint64_t inode = 0;
        UniqueFd fd;  // to read
    };

    // Watches the directories that every program may use. False: the kernel does not let us
    // (CAP_SYS_ADMIN), and nothing is ever told.
    bool open();
    // Also the one that the process's environment says, for it and those that it starts.
    void watch_directory_of(uint32_t pid, const std::string& proc_root = "/proc");
    void watch_directory(const std::string& path);

    // Readable when read() has something to give; -1: not open.
    [[nodiscard]] int fd() const { return events_.get(); }
    // Appends the files PID.events that were opened by PID since the last call.
    void read(std::vector<Made>& out);

private:
    UniqueFd events_;
    std::set<std::string> watched_;
};

}  // namespace tracer
