// SPDX-License-Identifier: Apache-2.0
//
// What files a process runs code from. The kernel writes the names in /proc/PID/maps with newlines
// as \012 and marks unlinked ones with " (deleted)" (fs/proc/task_mmu.c); a process may map files
// with any name, so nothing is taken from a name that the inode does not confirm. Called by the
// search for target files.
#include "symbol/process_maps.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {

namespace {

// A process may have 65530 mappings by default; lines are up to 4 KiB and more.
constexpr size_t kMapsBytesMax = 256u << 20;
constexpr std::string_view kDeletedMark = " (deleted)";

template <typename T>
bool take_number(std::string_view& rest, int base, char end_mark, T& out) {
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), out, base);
    if (error != std::errc{} || end == rest.data() + rest.size() || *end != end_mark) return false;
    rest.remove_prefix(static_cast<size_t>(end - rest.data()) + 1);
    return true;
}

// The kernel writes a newline in a name as \012, and nothing else.
std::string unescape(std::string_view name) {
    std::string text;
    text.reserve(name.size());
    while (!name.empty()) {
        if (name.starts_with("\\012")) {
            text += '\n';
            name.remove_prefix(4);
        } else {
            text += name[0];
            name.remove_prefix(1);
        }
    }
    return text;
}

Result<std::string> read_text(const std::string& path) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return fail_errno(ErrorCode::io, errno, fmt::format("open {}", path));
    std::string text;
    char buffer[65536];
    while (text.size() < kMapsBytesMax) {
        ssize_t got = ::read(fd.get(), buffer, sizeof(buffer));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail_errno(ErrorCode::io, errno, fmt::format("read {}", path));
        if (got == 0) break;
        text.append(buffer, static_cast<size_t>(got));
    }
    return text;
}

// The path that opens the very inode of a mapping.
std::optional<MappedFile> open_mapping(pid_t pid, const ProcessMapping& mapping) {
    MappedFile file;
    file.shown_path = mapping.path;
    file.is_deleted = mapping.is_deleted;
    // map_files needs CAP_SYS_ADMIN (or CAP_CHECKPOINT_RESTORE) in the initial namespace.
    file.open_path = fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, mapping.start, mapping.end);
    auto identity = identity_of(file.open_path);
    if (!identity && !mapping.is_deleted) {
        file.open_path = fmt::format("/proc/{}/root{}", pid, mapping.path);
        identity = identity_of(file.open_path);
        if (identity && identity->inode != mapping.inode) return std::nullopt;
    }
    if (!identity) return std::nullopt;
    file.identity = *identity;
    return file;
}

}  // namespace

std::optional<FileIdentity> identity_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    return FileIdentity{status.st_dev, status.st_ino};
}

std::optional<ProcessMapping> parse_maps_line(std::string_view line) {
    ProcessMapping mapping;
    if (!take_number(line, 16, '-', mapping.start)) return std::nullopt;
    if (!take_number(line, 16, ' ', mapping.end)) return std::nullopt;
    if (line.size() < 5 || line[4] != ' ' || mapping.end < mapping.start) return std::nullopt;
    mapping.is_writable = line[1] == 'w';
    mapping.is_executable = line[2] == 'x';
    mapping.is_shared = line[3] == 's';
    line.remove_prefix(5);
    if (!take_number(line, 16, ' ', mapping.file_offset)) return std::nullopt;
    if (!take_number(line, 16, ':', mapping.device_major)) return std::nullopt;
    if (!take_number(line, 16, ' ', mapping.device_minor)) return std::nullopt;
    // An anonymous mapping's line may end after the inode, with or without a space.
    const auto* begin = line.data();
    auto [end, error] = std::from_chars(begin, begin + line.size(), mapping.inode, 10);
    if (error != std::errc{}) return std::nullopt;
    line.remove_prefix(static_cast<size_t>(end - begin));
    if (!line.empty() && line[0] != ' ') return std::nullopt;
    const auto name = line.find_first_not_of(' ');
    if (name == std::string_view::npos) return mapping;
    line.remove_prefix(name);
    // A live file may really be called "x (deleted)"; it then counts as deleted and is found
    // through map_files all the same.
    if (line.ends_with(kDeletedMark)) {
        mapping.is_deleted = true;
        line.remove_suffix(kDeletedMark.size());
    }
    mapping.path = unescape(line);
    return mapping;
}

Result<std::vector<ProcessMapping>> read_process_maps(pid_t pid) {
    auto text = read_text(fmt::format("/proc/{}/maps", pid));
    if (!text) {
        auto error = std::move(text).error();
        if (error.sys_errno == ENOENT || error.sys_errno == ESRCH) {
            return fail(ErrorCode::not_found, fmt::format("no process {}", pid));
        }
        if (error.sys_errno == EACCES || error.sys_errno == EPERM) {
            error.code = ErrorCode::permission;
        }
        return tl::unexpected(std::move(error));
    }
    std::vector<ProcessMapping> mappings;
    std::string_view rest = *text;
    while (!rest.empty()) {
        const auto line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        auto mapping = parse_maps_line(line);
        if (mapping && mapping->inode != 0 && mapping->path.starts_with('/')) {
            mappings.push_back(std::move(*mapping));
        }
    }
    return mappings;
}

Result<std::vector<MappedFile>> read_mapped_files(pid_t pid) {
    TR_ASSIGN(const auto mappings, read_process_maps(pid));
    std::vector<MappedFile> files;
    std::set<FileIdentity> seen;
    const auto exe_path = fmt::format("/proc/{}/exe", pid);
    const auto exe = identity_of(exe_path);
    // One look at each inode of the table, however many mappings it has.
    std::set<std::tuple<uint32_t, uint32_t, uint64_t>> looked_at;
    for (const auto& mapping : mappings) {
        if (!mapping.is_executable) continue;
        auto key = std::make_tuple(mapping.device_major, mapping.device_minor, mapping.inode);
        if (!looked_at.insert(key).second) continue;
        auto file = open_mapping(pid, mapping);
        // Without the right to use map_files, a deleted program is still reached as exe.
        if (!file && exe && exe->inode == mapping.inode) {
            file = MappedFile{exe_path, mapping.path, *exe, mapping.is_deleted};
        }
        if (!file || !seen.insert(file->identity).second) continue;
        if (exe && file->identity == *exe) {
            files.insert(files.begin(), std::move(*file));
        } else {
            files.push_back(std::move(*file));
        }
    }
    return files;
}

}  // namespace tracer
