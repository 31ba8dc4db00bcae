// SPDX-License-Identifier: Apache-2.0
//
// fanotify's FAN_OPEN on the children of a directory: the kernel's queue holds a reference to the
// file itself, so that it can be read when its name, its process or both are gone. The directories
// are those where programs make such files: /dev/shm, users' runtime directories, and what the
// variables of our library and of OCaml say. A file without a name (memfd) is in none. Used by
// ring_watch.cpp.
#include "session/ring_files.h"

#include "packs/running_files.h"
#include "session/ring_recording.h"
#include "session/targets.h"

#include <array>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <string_view>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {
namespace {

constexpr size_t kDirectoriesMax = 256;

// What the descriptor was opened as; empty: it cannot be told.
std::string path_of(int fd) {
    std::array<char, 4096> text{};
    const ssize_t length =
        readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), text.data(), text.size());
    std::string path(text.data(), length > 0 ? static_cast<size_t>(length) : 0);
    constexpr std::string_view kDeleted = " (deleted)";
    if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
    return path;
}

std::optional<std::string> value_of(const std::vector<std::string>& environment,
                                    std::string_view name) {
    for (const std::string& entry : environment) {
        if (entry.starts_with(name) && entry.size() > name.size() && entry[name.size()] == '=') {
            return entry.substr(name.size() + 1);
        }
    }
    return std::nullopt;
}

// OCaml takes a dead process's file of the same name as it is, with old events in it until it has
// begun anew: such a one is left to be found among the mappings.
std::optional<uint64_t> inode_of_new_file(int fd) {
    constexpr int64_t kSecondsMax = 10;
    struct statx status {};
    if (statx(fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_INO | STATX_BTIME, &status) != 0 ||
        !S_ISREG(status.stx_mode)) {
        return std::nullopt;
    }
    const bool is_old = (status.stx_mask & STATX_BTIME) != 0 &&
                        status.stx_btime.tv_sec + kSecondsMax < std::time(nullptr);
    return is_old ? std::nullopt : std::optional<uint64_t>(status.stx_ino);
}

}  // namespace

bool RingFiles::open() {
    // The kernel opens what it tells of for us: a named pipe would wait there for its other end.
    events_.reset(fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK,
                                O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_LARGEFILE));
    if (!events_.valid()) return false;
    watch_directory("/dev/shm");
    std::error_code error;
    for (const auto& user : std::filesystem::directory_iterator("/run/user", error)) {
        watch_directory(user.path().string());
    }
    return true;
}

void RingFiles::watch_directory_of(uint32_t pid, const std::string& proc_root) {
    if (!events_.valid()) return;
    const auto environment = read_process_start(pid, proc_root).environment;
    const std::string process = fmt::format("{}/{}", proc_root, pid);
    const auto ocaml = value_of(environment, "OCAML_RUNTIME_EVENTS_DIR");
    for (const auto& directory : {value_of(environment, "TRACER_RING_DIR"), ocaml,
                                  value_of(environment, "XDG_RUNTIME_DIR")}) {
        if (!directory || directory->empty()) continue;
        const bool is_absolute = directory->starts_with('/');
        watch_directory(process + (is_absolute ? "/root" : "/cwd/") + *directory);
    }
    // Without a directory OCaml's are where the program was started.
    if (!ocaml && value_of(environment, "OCAML_RUNTIME_EVENTS_START")) {
        watch_directory(process + "/cwd");
    }
}

void RingFiles::watch_directory(const std::string& path) {
    // By what it is, and not by a name that each process has for it.
    struct stat status {};
    if (!events_.valid() || stat(path.c_str(), &status) != 0) return;
    const std::string identity = fmt::format("{}:{}", status.st_dev, status.st_ino);
    if (watched_.size() >= kDirectoriesMax || !watched_.insert(identity).second) return;
    // One that cannot be watched is looked for among the mappings alone, as all are.
    static_cast<void>(fanotify_mark(events_.get(), FAN_MARK_ADD | FAN_MARK_ONLYDIR,
                                    FAN_OPEN | FAN_EVENT_ON_CHILD, AT_FDCWD, path.c_str()));
}

void RingFiles::read(std::vector<Made>& out) {
    if (!events_.valid()) return;
    alignas(fanotify_event_metadata) std::array<char, 4096> buffer{};
    for (;;) {
        ssize_t rest = ::read(events_.get(), buffer.data(), buffer.size());
        if (rest < 0 && errno == EINTR) continue;
        if (rest <= 0) return;
        const auto* event =
            static_cast<const fanotify_event_metadata*>(static_cast<const void*>(buffer.data()));
        for (; FAN_EVENT_OK(event, rest); event = FAN_EVENT_NEXT(event, rest)) {
            if (event->fd < 0) continue;
            UniqueFd fd(event->fd);
            const auto pid = static_cast<uint32_t>(event->pid);
            const auto inode = inode_of_new_file(fd.get());
            if (!inode) continue;
            const uint32_t named = pid_in_path(path_of(fd.get()));
            // Those who only read it have another one's name before them. A process in a namespace
            // of its own is known by its name there, while it lives.
            if (named == 0 || (named != pid && named != id_in_own_namespace(pid))) continue;
            out.push_back({.pid = pid, .inode = *inode, .fd = std::move(fd)});
        }
    }
}

}  // namespace tracer
