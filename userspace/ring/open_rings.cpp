// SPDX-License-Identifier: Apache-2.0
//
// Finding the file of rings: by its path, or by the mappings of the process that writes them, since
// only the process knows where its file is, and the file may have lost its name or lie in another
// mount namespace. Part of tracer/ring/cursor.h.
#include "tracer/ring/cursor.h"

#include <cerrno>
#include <cstdio>
#include <dirent.h>
#include <fcntl.h>
#include <fstream>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace tracer::ring {
namespace {

constexpr std::string_view kDeleted = " (deleted)";
constexpr size_t kMappingsMax = 1 << 20;

struct Mapping {
    std::string range;  // "7f00-7f10", as map_files calls it
    std::string path;   // without " (deleted)"
    uint64_t inode = 0;
};

// What a producer maps: shared, writable, from the file's beginning, "PID.events". Readers map the
// same file too, but not to write.
std::optional<Mapping> parse_rings_mapping(const std::string& line) {
    char range[40] = {};
    char permissions[8] = {};
    unsigned long long offset = 0;
    unsigned long long inode = 0;
    int path_at = 0;
    if (std::sscanf(line.c_str(), "%39s %7s %llx %*s %llu %n", range, permissions, &offset, &inode,
                    &path_at) != 4 ||
        std::string_view(permissions) != "rw-s" || offset != 0 || path_at <= 0) {
        return std::nullopt;
    }
    std::string path = line.substr(static_cast<size_t>(path_at));
    if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
    if (!path.ends_with(".events")) return std::nullopt;
    return Mapping{range, std::move(path), inode};
}

// Ordinary files only: opening others may wait or have effects.
UniqueFd open_regular(const std::string& path, std::optional<uint64_t> inode) {
    UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!fd.valid() || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
    if (inode && status.st_ino != *inode) return {};
    return fd;
}

// A file without a name that its process keeps open.
UniqueFd open_by_descriptor(pid_t pid, uint64_t inode) {
    const std::string folder = fmt::format("/proc/{}/fd", pid);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
    while (entries != nullptr) {
        const dirent* const entry = readdir(entries.get());
        if (entry == nullptr) break;
        const std::string path = fmt::format("{}/{}", folder, entry->d_name);
        struct stat status {};
        if (stat(path.c_str(), &status) != 0 || status.st_ino != inode) continue;
        if (UniqueFd fd = open_regular(path, inode); fd.valid()) return fd;
    }
    return {};
}

// map_files needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE; the other ways do not.
UniqueFd open_mapping(pid_t pid, const Mapping& mapping) {
    UniqueFd fd =
        open_regular(fmt::format("/proc/{}/map_files/{}", pid, mapping.range), mapping.inode);
    if (!fd.valid())
        fd = open_regular(fmt::format("/proc/{}/root{}", pid, mapping.path), mapping.inode);
    if (!fd.valid()) fd = open_by_descriptor(pid, mapping.inode);
    return fd;
}

}  // namespace

Result<Cursor> Cursor::open_file(const std::string& path, const CursorOptions& options) {
    UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd.valid()) {
        const int error = errno;
        return fail_errno(error == EACCES ? ErrorCode::permission : ErrorCode::not_found, error,
                          fmt::format("read {}", path));
    }
    auto cursor = open_fd(std::move(fd), options);
    if (!cursor) return tl::unexpected(std::move(cursor).error().within(path));
    return cursor;
}

Result<Cursor> Cursor::open_process(pid_t pid, const CursorOptions& options) {
    std::ifstream maps(fmt::format("/proc/{}/maps", pid));
    if (!maps) {
        const int error = errno;
        return fail_errno(error == EACCES ? ErrorCode::permission : ErrorCode::not_found, error,
                          fmt::format("read the mappings of process {}", pid));
    }
    std::optional<Error> problem;
    std::string line;
    for (size_t i = 0; i < kMappingsMax && std::getline(maps, line); ++i) {
        const auto mapping = parse_rings_mapping(line);
        if (!mapping) continue;
        UniqueFd fd = open_mapping(pid, *mapping);
        if (!fd.valid()) {
            problem = Error{ErrorCode::permission, 0, fmt::format("open {}", mapping->path),
                            "be its user, or root"};
            continue;
        }
        auto cursor = open_fd(std::move(fd), options);
        if (cursor) return cursor;
        problem = std::move(cursor).error().within(mapping->path);
    }
    if (problem) return tl::unexpected(std::move(*problem).within(fmt::format("process {}", pid)));
    return fail(ErrorCode::not_found, fmt::format("process {} has no rings", pid),
                "an OCaml 5 program has them when started with OCAML_RUNTIME_EVENTS_START=1");
}

}  // namespace tracer::ring
