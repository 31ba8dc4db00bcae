// SPDX-License-Identifier: Apache-2.0
//
// Files by process, from /proc alone. A machine may run thousands of processes that share a few
// hundred files, so each process costs one read of its maps and one link, and a file is opened only
// when it is looked into. Called before a recording and by `tracer packs NAME --pid N`.
#include "packs/running_files.h"

#include "probe/wildcard.h"
#include "symbol/process_maps.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <string_view>
#include <tuple>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {
namespace {

// A process may be given 6 MiB and more (execve(2)); what decides about probes stands early.
constexpr size_t kStartBytesMax = 1u << 20;
constexpr std::string_view kDeletedMark = " (deleted)";

NewMapping mapping_of(uint32_t pid, const ProcessMapping& line) {
    NewMapping mapping;
    mapping.pid = mapping.tid = pid;
    mapping.start = line.start;
    mapping.end = line.end;
    mapping.device_major = line.device_major;
    mapping.device_minor = line.device_minor;
    mapping.inode = line.inode;
    mapping.path = line.path;
    return mapping;
}

// Empty: it has ended, or is the kernel's.
std::string program_of(uint32_t pid) {
    std::error_code error;
    std::string path =
        std::filesystem::read_symlink(fmt::format("/proc/{}/exe", pid), error).string();
    if (path.ends_with(kDeletedMark)) path.resize(path.size() - kDeletedMark.size());
    return path;
}

// Texts that end at a NUL each.
std::vector<std::string> read_texts(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text(kStartBytesMax, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(file.gcount()));
    std::vector<std::string> texts;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\0', begin), text.size());
        texts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return texts;
}

}  // namespace

std::vector<uint32_t> RunningFile::pids() const {
    std::vector<uint32_t> pids;
    for (const NewMapping& runner : runners) pids.push_back(runner.pid);
    return pids;
}

std::vector<RunningFile> find_running_files(std::span<const uint32_t> pids) {
    using Key = std::tuple<uint32_t, uint32_t, uint64_t>;
    std::vector<RunningFile> files;
    std::map<Key, size_t> by_inode;
    for (const uint32_t pid : pids) {
        const auto lines = read_process_maps(static_cast<pid_t>(pid));
        if (!lines) continue;
        const std::string program = program_of(pid);
        for (const ProcessMapping& line : *lines) {
            if (!line.is_executable) continue;
            const Key key{line.device_major, line.device_minor, line.inode};
            const auto [position, is_new] = by_inode.emplace(key, files.size());
            if (is_new) files.emplace_back();
            RunningFile& file = files[position->second];
            if (line.path == program) file.is_executable = true;
            // Its lines stand together, but for others' between them.
            const bool is_known = !file.runners.empty() && file.runners.back().pid == pid;
            if (!is_known) file.runners.push_back(mapping_of(pid, line));
        }
    }
    return files;
}

std::vector<uint32_t> all_processes(uint32_t own_pid) {
    std::vector<uint32_t> pids;
    std::error_code error;
    for (auto entry = std::filesystem::directory_iterator("/proc", error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        uint32_t pid = 0;
        const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (fault != std::errc() || end != name.data() + name.size()) continue;
        if (pid != own_pid) pids.push_back(pid);
    }
    return pids;
}

Result<LateFile> open_running_file(const RunningFile& file) {
    TR_CHECK(!file.runners.empty());
    Result<LateFile> opened = open_late_file(file.runners.front());
    for (size_t i = 1; i < file.runners.size() && !opened; ++i) {
        opened = open_late_file(file.runners[i]);
    }
    return opened;
}

Result<LateFile> open_file_by_path(const std::string& path) {
    LateFile file;
    // It may be a pipe: opening it must not wait for a writer.
    file.fd.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.fd.valid())
        return fail_errno(ErrorCode::not_found, errno, fmt::format("open {}", path));
    const auto stamp = stamp_of(file.fd.get());
    if (!stamp) return fail(ErrorCode::bad_input, fmt::format("{} is no regular file", path));
    file.stamp = *stamp;
    file.file = {fmt::format("/proc/self/fd/{}", file.fd.get()), path};
    return file;
}

// By inode: the kernel tells of a mapping with the path that its process knows, which is another
// one than ours where their roots differ.
bool is_program_of(uint32_t pid, const FileStamp& file) {
    const auto program = stamp_of(fmt::format("/proc/{}/exe", pid));
    return program && is_same_inode(*program, file);
}

std::optional<ProcessMapping> ring_mapping_of(uint32_t pid) {
    constexpr std::string_view kSuffix = ".events";
    const auto maps = read_process_maps(static_cast<pid_t>(pid));
    if (!maps) return std::nullopt;
    const auto found = std::ranges::find_if(*maps, [&](const ProcessMapping& mapping) {
        return mapping.is_shared && mapping.is_writable && mapping.file_offset == 0 &&
               mapping.path.ends_with(kSuffix);
    });
    if (found == maps->end()) return std::nullopt;
    return *found;
}

std::optional<std::string> open_file_of(uint32_t pid,
                                        std::string_view pattern,
                                        const std::string& proc_root) {
    std::error_code error;
    const std::filesystem::directory_iterator files(fmt::format("{}/{}/fd", proc_root, pid), error);
    if (error) return std::nullopt;
    for (const auto& file : files) {
        // Gone by now, or a pipe.
        const auto target = std::filesystem::read_symlink(file, error);
        if (error || !target.is_absolute()) continue;
        if (wildcard_matches(pattern, target.filename().string())) return target.string();
    }
    return std::nullopt;
}

ProcessStart read_process_start(uint32_t pid, const std::string& proc_root) {
    return {.arguments = read_texts(fmt::format("{}/{}/cmdline", proc_root, pid)),
            .environment = read_texts(fmt::format("{}/{}/environ", proc_root, pid))};
}

ProcessStart process_start_of_command(const std::vector<std::string>& command) {
    ProcessStart start{.arguments = command, .environment = {}};
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        start.environment.emplace_back(*entry);
    }
    return start;
}

}  // namespace tracer
