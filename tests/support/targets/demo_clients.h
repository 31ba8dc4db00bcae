// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace tracer::demo {

// Threads that ask a Service for pages until stopped, with a little time to think in between. Each
// chooses its pages from a seed of its own, so that runs are alike.
class Clients {
public:
    Clients(std::string socket_path, unsigned count);
    ~Clients();  // ends after the requests under way
    Clients(const Clients&) = delete;
    Clients& operator=(const Clients&) = delete;

private:
    void run(unsigned number);

    const std::string socket_path_;
    std::atomic<bool> stop_{false};
    std::vector<std::thread> threads_;
};

}  // namespace tracer::demo
