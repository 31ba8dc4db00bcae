// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/ring_files.h"
#include "session/ring_reader.h"
#include "tracer/base/unique_fd.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
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
    // Of one that nobody has told of yet.
    std::function<bool(uint32_t)> is_recorded = [](uint32_t) { return false; };
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
        uint64_t inode = 0;    // of the rings that are read; 0: none
        bool is_seen = false;  // in the newest list of processes
    };
    // A file whose process may yet turn out to be one that is recorded.
    struct Waiting {
        RingFiles::Made made;
        uint64_t until_ns = 0;
    };

    void run();
    void wait();
    void wake();
    void take_expected(uint64_t now_ns);
    void take_files(uint64_t now_ns);
    [[nodiscard]] bool is_wanted(uint32_t pid) const;
    void read_file(RingFiles::Made& made);
    void warn(uint32_t pid, const std::string& what);
    void find_processes(uint64_t now_ns);
    [[nodiscard]] uint64_t next_turn_ns(uint64_t now_ns) const;
    void look_at_all(uint64_t now_ns, ring::Start start);
    void look_at(uint32_t pid, Known& known, ring::Start start);

    RingReader& reader_;
    RingWatchOptions options_;
    std::thread thread_;
    std::mutex mutex_;
    UniqueFd wake_event_;
    bool stop_ = false;
    std::vector<uint32_t> expected_;
    // Of the thread, once it runs.
    uint64_t next_find_ns_ = 0;
    RingFiles files_;
    std::vector<Waiting> waiting_;
    std::map<uint32_t, Known> known_;
    std::vector<std::string> warnings_;
};

}  // namespace tracer
