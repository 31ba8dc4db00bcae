// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/ring_reader.h"

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tracer {

// Which OCaml the rings of a process are of, as its program's symbols say; nullopt: it has no
// rings.
[[nodiscard]] std::optional<ring::OcamlVersions> ocaml_versions_of_rings(uint32_t pid);

struct RingWatchOptions {
    bool is_on = false;
    bool all = false;            // every process; else `pids`
    std::vector<uint32_t> pids;  // of the initial namespace
    bool follow_children = false;
    uint32_t own_pid = 0;
    bool real_time = false;
    std::string proc_root = "/proc";
};

// Finds programs that write events to rings they share (OCaml 5 with its runtime events on,
// programs with our library), by what processes have mapped, and hands them to a reader, on a
// thread of its own: at once, and again while the recording lasts, since a program may begin to
// write at any time.
class RingWatch {
public:
    // Borrows the reader.
    RingWatch(RingReader& reader, RingWatchOptions options);
    ~RingWatch() { stop(); }
    RingWatch(const RingWatch&) = delete;
    RingWatch& operator=(const RingWatch&) = delete;

    // What is found in the first look is read from then on; what is found later, from its
    // beginning.
    void start();
    void stop();
    // One more process that is recorded, whose rings are read from their beginning. Before start().
    void add_process(uint32_t pid) { options_.pids.push_back(pid); }
    // The process runs something new: a look is due soon. Any thread.
    void expect(uint32_t pid);
    // Producers that could not be opened, with the reasons; after stop().
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

private:
    struct Known {
        uint64_t next_look_ns = 0;
        uint64_t interval_ns = 0;
        std::optional<std::pair<uint64_t, uint64_t>> rings;  // device and inode of those read
        bool is_seen = false;                                // in the newest list of processes
    };

    void run();
    void take_expected(uint64_t now_ns);
    void find_processes(uint64_t now_ns);
    [[nodiscard]] uint64_t next_turn_ns(uint64_t now_ns) const;
    void look_at_all(uint64_t now_ns, ring::Start start);
    void look_at(uint32_t pid, Known& known, ring::Start start);

    RingReader& reader_;
    RingWatchOptions options_;
    std::thread thread_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stop_ = false;
    std::vector<uint32_t> expected_;
    // Of the thread, once it runs.
    uint64_t next_find_ns_ = 0;
    std::map<uint32_t, Known> known_;
    std::vector<std::string> warnings_;
};

}  // namespace tracer
