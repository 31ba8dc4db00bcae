// SPDX-License-Identifier: Apache-2.0
//
// Rings are found in two ways. The kernel tells of files that are made where producers make them
// (ring_files.h), and keeps them for us whatever becomes of their process. And of processes what
// they have mapped is looked at, often of one that is new, seldom of one that has been there for
// long: that finds files of everywhere and those without a name, but of a program that lives
// shorter than the first looks take it finds nothing. Started by recording.cpp.
#include "session/ring_watch.h"

#include "packs/running_files.h"
#include "session/clock.h"
#include "session/real_time.h"
#include "session/targets.h"
#include "symbol/symbol_table.h"

#include <algorithm>
#include <array>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace tracer {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kFirstLooksNs = kMs;
// The longest between two looks at one process, and between two at which processes there are.
constexpr uint64_t kLookNsMax = 1000 * kMs;
constexpr uint64_t kLookOfManyNsMax = 10'000 * kMs;
// What executes something new is told; what forks alone is not.
constexpr uint64_t kFindNs = 1000 * kMs;
// How long a file waits for word that its process is recorded.
constexpr uint64_t kWaitingNs = 1000 * kMs;
constexpr size_t kExpectedMax = 4096;
constexpr size_t kWarningsMax = 8;

// The program's own symbols say which OCaml it was linked with; the runtime's stay when stripped.
ring::OcamlVersions ocaml_versions_of(uint32_t pid) {
    const auto file = ElfFile::open(fmt::format("/proc/{}/exe", pid));
    if (!file) return {};
    const auto symbols = SymbolTable::load(*file);
    if (!symbols) return {};
    return ring::versions_of_symbols(
        [&](std::string_view name) { return symbols->address_of(name).has_value(); });
}

}  // namespace

std::optional<ring::OcamlVersions> ocaml_versions_of_rings(uint32_t pid) {
    if (!ring_mapping_of(pid)) return std::nullopt;
    return ocaml_versions_of(pid);
}

RingWatch::RingWatch(RingReader& reader, RingWatchOptions options)
    : reader_(reader), options_(std::move(options)) {}

void RingWatch::start() {
    if (!options_.is_on) return;
    wake_event_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    files_.open();
    const uint64_t now_ns = boottime_ns();
    find_processes(now_ns);
    if (!options_.all) {
        for (const auto& [pid, known] : known_) files_.watch_directory_of(pid);
    }
    look_at_all(now_ns, ring::Start::now);
    thread_ = std::thread([this] { run(); });
}

void RingWatch::stop() {
    if (!thread_.joinable()) return;
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
    }
    wake();
    thread_.join();
}

void RingWatch::expect(uint32_t pid) {
    {
        const std::scoped_lock lock(mutex_);
        // One that is forgotten is found by the next list of processes.
        if (expected_.size() < kExpectedMax) expected_.push_back(pid);
    }
    wake();
}

void RingWatch::wake() {
    const uint64_t one = 1;
    // Fails only when the counter is at its limit, and then the thread is awake.
    [[maybe_unused]] const ssize_t put = write(wake_event_.get(), &one, sizeof(one));
}

void RingWatch::wait() {
    const uint64_t turn_ns = next_turn_ns(boottime_ns());
    // A negative number is passed over.
    std::array<pollfd, 2> fds{{{wake_event_.get(), POLLIN, 0}, {files_.fd(), POLLIN, 0}}};
    poll(fds.data(), fds.size(), static_cast<int>((turn_ns + kMs - 1) / kMs));
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = read(wake_event_.get(), &count, sizeof(count));
}

void RingWatch::run() {
    pthread_setname_np(pthread_self(), "tracer-rings");
    // Or a loaded machine has run a new program to its end before it is looked at.
    if (options_.real_time) static_cast<void>(take_real_time_priority());
    for (;;) {
        wait();
        const uint64_t now_ns = boottime_ns();
        {
            const std::scoped_lock lock(mutex_);
            take_expected(now_ns);
            // Files of programs that have ended by now are read to their ends.
            if (stop_) break;
        }
        take_files(now_ns);
        if (now_ns >= next_find_ns_) find_processes(now_ns);
        look_at_all(now_ns, ring::Start::oldest);
    }
    take_files(boottime_ns());
}

uint64_t RingWatch::next_turn_ns(uint64_t now_ns) const {
    if (!waiting_.empty()) return kMs;
    uint64_t next_ns = next_find_ns_;
    for (const auto& [pid, known] : known_) next_ns = std::min(next_ns, known.next_look_ns);
    return std::clamp(next_ns - std::min(next_ns, now_ns), kMs, kLookNsMax);
}

// Its mappings are new, the rings come a moment later: looked at as one that has just begun.
void RingWatch::take_expected(uint64_t now_ns) {
    for (const uint32_t pid : expected_) {
        const bool is_target = std::ranges::find(options_.pids, pid) != options_.pids.end();
        if (pid == options_.own_pid || !(options_.all || options_.follow_children || is_target)) {
            continue;
        }
        files_.watch_directory_of(pid);
        Known& known = known_[pid];
        known.interval_ns = 0;
        known.next_look_ns = now_ns + kMs;
    }
    expected_.clear();
}

void RingWatch::take_files(uint64_t now_ns) {
    std::vector<RingFiles::Made> made;
    files_.read(made);
    for (RingFiles::Made& file : made) waiting_.push_back({std::move(file), now_ns + kWaitingNs});
    std::erase_if(waiting_, [&](Waiting& waiting) {
        const uint32_t pid = waiting.made.pid;
        if (pid != options_.own_pid && is_wanted(pid)) {
            read_file(waiting.made);
            return true;
        }
        return now_ns >= waiting.until_ns;
    });
}

bool RingWatch::is_wanted(uint32_t pid) const {
    return options_.all || known_.contains(pid) || options_.is_recorded(pid);
}

void RingWatch::read_file(RingFiles::Made& made) {
    Known& known = known_[made.pid];
    if (known.inode == made.inode) return;
    known.inode = made.inode;
    known.is_seen = true;
    known.next_look_ns = boottime_ns() + kFirstLooksNs;
    auto cursor = ring::Cursor::open_fd(
        std::move(made.fd),
        {.start = ring::Start::oldest, .versions = ocaml_versions_of(made.pid)});
    if (cursor) {
        reader_.add({made.pid, std::move(*cursor)});
    } else {
        warn(made.pid, cursor.error().what);
    }
}

void RingWatch::find_processes(uint64_t now_ns) {
    const bool is_list_fixed = !options_.all && !options_.follow_children;
    next_find_ns_ = is_list_fixed ? UINT64_MAX : now_ns + kFindNs;
    std::vector<uint32_t> pids = options_.pids;
    if (options_.all) {
        pids = list_processes(options_.proc_root);
    } else if (options_.follow_children) {
        const auto children = find_descendants(options_.pids, options_.proc_root);
        pids.insert(pids.end(), children.begin(), children.end());
    }
    for (auto& [pid, known] : known_) known.is_seen = false;
    for (const uint32_t pid : pids) {
        if (pid == options_.own_pid) continue;
        const auto [known, is_new] = known_.try_emplace(pid);
        known->second.is_seen = true;
        if (is_new) known->second.next_look_ns = now_ns;
    }
    std::erase_if(known_, [](const auto& entry) { return !entry.second.is_seen; });
}

void RingWatch::look_at_all(uint64_t now_ns, ring::Start start) {
    const uint64_t longest_ns = options_.all ? kLookOfManyNsMax : kLookNsMax;
    for (auto& [pid, known] : known_) {
        if (known.next_look_ns > now_ns) continue;
        look_at(pid, known, start);
        known.interval_ns = std::clamp(known.interval_ns * 2, kFirstLooksNs, longest_ns);
        known.next_look_ns = now_ns + known.interval_ns;
    }
}

void RingWatch::look_at(uint32_t pid, Known& known, ring::Start start) {
    const auto rings = ring_mapping_of(pid);
    if (!rings || rings->inode == known.inode) return;
    auto cursor = ring::Cursor::open_process(static_cast<pid_t>(pid),
                                             {.start = start, .versions = ocaml_versions_of(pid)});
    // It may have ended meanwhile, or has not written its file's head yet: the next look tells.
    if (!cursor && cursor.error().code == ErrorCode::not_found) return;
    known.inode = rings->inode;
    if (cursor) {
        reader_.add({pid, std::move(*cursor)});
    } else {
        warn(pid, cursor.error().what);
    }
}

void RingWatch::warn(uint32_t pid, const std::string& what) {
    if (warnings_.size() >= kWarningsMax) return;
    warnings_.push_back(fmt::format("the rings of process {} are not read: {}", pid, what));
}

}  // namespace tracer
