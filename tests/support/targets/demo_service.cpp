// SPDX-License-Identifier: Apache-2.0
//
// The server half of the demonstration program, written as one would write a small service, with
// the probes of provider `demo` where an operator would want them:
//   request__start(u64 id, char* path)   request__done(u64 id, int status, u64 bytes)
//   cache__hit(char* key)   cache__miss(char* key)   queue__depth(int connections waiting)
// Called by demo_server.cpp; its clients are in demo_clients.cpp.
#include "demo_service.h"

#include "tracer/usdt.h"

#include <cerrno>
#include <chrono>
#include <pthread.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace tracer::demo {
namespace {

constexpr size_t kCacheEntriesMax = 24;
constexpr size_t kPageBytes = 4096;
constexpr std::string_view kReports = "/report/";
constexpr std::string_view kItems = "/item/";

// Work that shows as running, not as waiting.
uint64_t compute(std::string_view text, unsigned rounds) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (unsigned round = 0; round < rounds; round++) {
        for (const char c : text) {
            hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
        }
    }
    return hash;
}

bool read_line(int fd, std::string& line) {
    char c = 0;
    while (line.size() < 256 && read(fd, &c, 1) == 1) {
        if (c == '\n') return true;
        line.push_back(c);
    }
    return false;
}

}  // namespace

Service::Service(std::string socket_path, unsigned workers, ServiceCounts& counts)
    : socket_path_(std::move(socket_path)), worker_count_(workers), counts_(counts) {}

bool Service::start() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (socket_path_.size() >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return false;
    }
    socket_path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener_ < 0 ||
        bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        listen(listener_, 16) != 0) {
        return false;
    }
    acceptor_ = std::thread([this] { accept_connections(); });
    for (unsigned i = 1; i <= worker_count_; i++) {
        workers_.emplace_back([this, i] { work(i); });
    }
    return true;
}

Service::~Service() {
    if (listener_ >= 0) shutdown(listener_, SHUT_RDWR);
    if (acceptor_.joinable()) acceptor_.join();
    {
        const std::lock_guard lock(queue_mutex_);
        closed_ = true;
    }
    queue_changed_.notify_all();
    for (std::thread& worker : workers_) {
        worker.join();
    }
    if (listener_ >= 0) close(listener_);
    unlink(socket_path_.c_str());
}

void Service::accept_connections() {
    pthread_setname_np(pthread_self(), "demo-accept");
    for (;;) {
        const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0) {
            if (errno == EINTR || errno == ECONNABORTED) continue;
            return;  // the destructor shut the listener down
        }
        int depth = 0;
        {
            const std::lock_guard lock(queue_mutex_);
            queue_.push_back(connection);
            depth = static_cast<int>(queue_.size());
        }
        counts_.queued++;
        TRACER_PROBE(demo, queue__depth, depth);
        queue_changed_.notify_one();
    }
}

void Service::work(unsigned number) {
    pthread_setname_np(pthread_self(), ("demo-worker-" + std::to_string(number)).c_str());
    for (;;) {
        int connection = -1;
        {
            std::unique_lock lock(queue_mutex_);
            queue_changed_.wait(lock, [this] { return closed_ || !queue_.empty(); });
            if (queue_.empty()) return;
            connection = queue_.front();
            queue_.pop_front();
        }
        serve(connection);
        close(connection);
    }
}

void Service::serve(int connection) {
    std::string line;
    if (!read_line(connection, line)) return;
    const std::string path = line.starts_with("GET ") ? line.substr(4) : line;
    const uint64_t id = next_id_++;
    counts_.started++;
    TRACER_PROBE(demo, request__start, id, path.c_str());

    const Answer reply = answer(path);
    const std::string head =
        std::to_string(reply.status) + " " + std::to_string(reply.body.size()) + "\n";
    // A client that went away is no fault of ours.
    (void)send(connection, head.data(), head.size(), MSG_NOSIGNAL);
    (void)send(connection, reply.body.data(), reply.body.size(), MSG_NOSIGNAL);

    const uint64_t bytes = reply.body.size();
    counts_.done++;
    TRACER_PROBE(demo, request__done, id, reply.status, bytes);
}

Service::Answer Service::answer(const std::string& path) {
    if (path.starts_with(kReports)) {
        // Stands for a slow back end: some waiting, some work.
        std::this_thread::sleep_for(std::chrono::milliseconds(15));
        return {200, "report " + std::to_string(compute(path, 20000)) + "\n"};
    }
    if (path.starts_with(kItems)) return {200, page(path)};
    return {404, "no such page\n"};
}

std::string Service::page(const std::string& key) {
    const std::lock_guard lock(cache_mutex_);
    if (const auto found = cache_.find(key); found != cache_.end()) {
        counts_.hits++;
        TRACER_PROBE(demo, cache__hit, key.c_str());
        return found->second;
    }
    counts_.misses++;
    TRACER_PROBE(demo, cache__miss, key.c_str());
    std::string body = std::to_string(compute(key, 60000));
    body.resize(kPageBytes, '.');
    cache_.emplace(key, body);
    cache_order_.push_back(key);
    if (cache_order_.size() > kCacheEntriesMax) {
        cache_.erase(cache_order_.front());
        cache_order_.pop_front();
    }
    return body;
}

}  // namespace tracer::demo
