// SPDX-License-Identifier: Apache-2.0
//
// The kernel tells of executable mappings only, so rings are found by looking: often at a process
// that is new, seldom at one that has been there for long. A look is a read of its mappings. Files
// of rings stay readable after their process's end only while somebody has them open, so a program
// that lives shorter than the first looks take leaves nothing. Started by recording.cpp.
#include "session/ring_watch.h"

#include "packs/running_files.h"
#include "session/clock.h"
#include "session/real_time.h"
#include "session/targets.h"
#include "symbol/symbol_table.h"

#include <algorithm>
#include <chrono>
#include <pthread.h>

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

std::optional<std::pair<uint64_t, uint64_t>> rings_of(uint32_t pid) {
    const auto found = ring_mapping_of(pid);
    if (!found) return std::nullopt;
    return std::pair(uint64_t{found->device_major} << 32 | found->device_minor, found->inode);
}

}  // namespace

std::optional<ring::OcamlVersions> ocaml_versions_of_rings(uint32_t pid) {
    if (!rings_of(pid)) return std::nullopt;
    return ocaml_versions_of(pid);
}

RingWatch::RingWatch(RingReader& reader, RingWatchOptions options)
    : reader_(reader), options_(std::move(options)) {}

void RingWatch::start() {
    if (!options_.is_on) return;
    const uint64_t now_ns = boottime_ns();
    find_processes(now_ns);
    look_at_all(now_ns, ring::Start::now);
    thread_ = std::thread([this] { run(); });
}

void RingWatch::stop() {
    if (!thread_.joinable()) return;
    {
        const std::scoped_lock lock(mutex_);
        stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void RingWatch::expect(uint32_t pid) {
    {
        const std::scoped_lock lock(mutex_);
        // One that is forgotten is found by the next list of processes.
        if (expected_.size() < kExpectedMax) expected_.push_back(pid);
    }
    wake_.notify_one();
}

void RingWatch::run() {
    pthread_setname_np(pthread_self(), "tracer-rings");
    // Or a loaded machine has run a new program to its end before it is looked at.
    if (options_.real_time) static_cast<void>(take_real_time_priority());
    std::unique_lock lock(mutex_);
    for (;;) {
        const uint64_t turn_ns = next_turn_ns(boottime_ns());
        wake_.wait_for(lock, std::chrono::nanoseconds(turn_ns),
                       [this] { return stop_ || !expected_.empty(); });
        if (stop_) return;
        const uint64_t now_ns = boottime_ns();
        take_expected(now_ns);
        lock.unlock();
        if (now_ns >= next_find_ns_) find_processes(now_ns);
        look_at_all(now_ns, ring::Start::oldest);
        lock.lock();
    }
}

uint64_t RingWatch::next_turn_ns(uint64_t now_ns) const {
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
        Known& known = known_[pid];
        known.interval_ns = 0;
        known.next_look_ns = now_ns + kMs;
    }
    expected_.clear();
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
    const auto rings = rings_of(pid);
    if (!rings || rings == known.rings) return;
    auto cursor = ring::Cursor::open_process(static_cast<pid_t>(pid),
                                             {.start = start, .versions = ocaml_versions_of(pid)});
    if (cursor) {
        known.rings = rings;
        reader_.add({pid, std::move(*cursor)});
        return;
    }
    // It may have ended meanwhile, or has not written its file's head yet: the next look tells.
    if (cursor.error().code == ErrorCode::not_found) return;
    known.rings = rings;
    if (warnings_.size() < kWarningsMax) {
        warnings_.push_back(
            fmt::format("the rings of process {} are not read: {}", pid, cursor.error().what));
    }
}

}  // namespace tracer
