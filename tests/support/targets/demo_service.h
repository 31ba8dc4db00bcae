// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace tracer::demo {

// What the service knows it did, to compare with its probes.
struct ServiceCounts {
    std::atomic<uint64_t> started{0};
    std::atomic<uint64_t> done{0};
    std::atomic<uint64_t> hits{0};
    std::atomic<uint64_t> misses{0};
    std::atomic<uint64_t> queued{0};
};

// Answers "GET PATH\n" with "STATUS BYTES\n", one request a connection, on a Unix socket: one
// thread accepts, some work. Answers are kept in a small cache behind one lock, which is held while
// a missing entry is made, so that workers wait for each other as they do in real services.
class Service {
public:
    // `counts` outlives the service.
    Service(std::string socket_path, unsigned workers, ServiceCounts& counts);
    ~Service();  // answers what is queued, then ends all threads
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    [[nodiscard]] bool start();  // false with errno set: no socket

private:
    struct Answer {
        int status;
        std::string body;
    };

    void accept_connections();
    void work(unsigned number);
    void serve(int connection);
    Answer answer(const std::string& path);
    std::string page(const std::string& key);

    const std::string socket_path_;
    const unsigned worker_count_;
    int listener_ = -1;
    std::thread acceptor_;
    std::vector<std::thread> workers_;
    ServiceCounts& counts_;
    std::atomic<uint64_t> next_id_{1};

    std::mutex queue_mutex_;
    std::condition_variable queue_changed_;
    std::deque<int> queue_;
    bool closed_ = false;

    std::mutex cache_mutex_;
    std::unordered_map<std::string, std::string> cache_;
    std::list<std::string> cache_order_;  // oldest first
};

}  // namespace tracer::demo
