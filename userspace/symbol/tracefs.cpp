// SPDX-License-Identifier: Apache-2.0
//
// Access to tracefs. Where nobody mounted it, a detached mount is made with fsopen(2), fsconfig(2)
// and fsmount(2) (Linux 5.2): it appears in no mount table, so a tracer leaves no trace of itself.
// Debian 12's glibc has wrappers for these calls, other C libraries may not: they are made by
// number. Called by the probe compiler and the attacher.
#include "symbol/tracefs.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr size_t kFileBytesMax = 1u << 20;
constexpr unsigned kFsopenCloexec = 1;
constexpr unsigned kFsmountCloexec = 1;
constexpr unsigned kFsconfigCreate = 6;  // FSCONFIG_CMD_CREATE

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};

Result<UniqueFd> mount_privately() {
    const std::string hint = "run as root (sudo)";
    UniqueFd context(static_cast<int>(::syscall(SYS_fsopen, "tracefs", kFsopenCloexec)));
    if (!context.valid()) {
        int error = errno;
        if (error == ENODEV) {
            return fail_errno(ErrorCode::missing_feature, error, "this kernel has no tracefs");
        }
        return fail_errno(ErrorCode::permission, error, "open tracefs", hint);
    }
    if (::syscall(SYS_fsconfig, context.get(), kFsconfigCreate, nullptr, nullptr, 0) != 0) {
        int error = errno;
        return fail_errno(ErrorCode::permission, error, "set up tracefs", hint);
    }
    UniqueFd root(static_cast<int>(::syscall(SYS_fsmount, context.get(), kFsmountCloexec, 0)));
    if (!root.valid()) {
        int error = errno;
        return fail_errno(ErrorCode::permission, error, "mount tracefs", hint);
    }
    return root;
}

bool is_plain_name(const std::string& name) {
    return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

Status check_names(const std::string& category, const std::string& name) {
    if (is_plain_name(category) && is_plain_name(name)) return {};
    return fail(ErrorCode::not_found, fmt::format("no tracepoint {}:{}", category, name));
}

}  // namespace

Result<Tracefs> Tracefs::open() {
    for (const auto* path : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}) {
        UniqueFd root(::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        // The mount point exists without a mount: only a real one has events.
        if (root.valid() && ::faccessat(root.get(), "events", R_OK, 0) == 0) {
            return Tracefs(std::move(root));
        }
    }
    TR_ASSIGN(auto root, mount_privately());
    return Tracefs(std::move(root));
}

Result<std::string> Tracefs::read(const std::string& path) const {
    UniqueFd fd(::openat(root_.get(), path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) {
        int error = errno;
        auto code = error == ENOENT ? ErrorCode::not_found : ErrorCode::permission;
        return fail_errno(code, error, fmt::format("open tracefs {}", path));
    }
    std::string text;
    char buffer[4096];
    while (text.size() < kFileBytesMax) {
        ssize_t got = ::read(fd.get(), buffer, sizeof(buffer));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            int error = errno;
            return fail_errno(ErrorCode::io, error, fmt::format("read tracefs {}", path));
        }
        if (got == 0) break;
        text.append(buffer, static_cast<size_t>(got));
    }
    return text;
}

Result<std::vector<std::string>> Tracefs::folders(const std::string& path) const {
    int fd = ::openat(root_.get(), path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        int error = errno;
        auto code = error == ENOENT ? ErrorCode::not_found : ErrorCode::permission;
        return fail_errno(code, error, fmt::format("open tracefs {}", path));
    }
    std::unique_ptr<DIR, CloseFolder> folder(::fdopendir(fd));
    if (!folder) {
        int error = errno;
        ::close(fd);
        return fail_errno(ErrorCode::io, error, fmt::format("list tracefs {}", path));
    }
    std::vector<std::string> names;
    while (const auto* entry = ::readdir(folder.get())) {
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        struct stat status {};
        // Beside the folders lie control files (enable, filter).
        if (::fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISDIR(status.st_mode)) {
            names.push_back(name);
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

Result<std::vector<std::string>> Tracefs::categories() const {
    return folders("events");
}

Result<std::vector<std::string>> Tracefs::names(const std::string& category) const {
    TR_TRY(check_names(category, "x"));
    return folders("events/" + category);
}

Result<TracepointFormat> Tracefs::format(const std::string& category,
                                         const std::string& name) const {
    TR_TRY(check_names(category, name));
    TR_ASSIGN(const auto text, read(fmt::format("events/{}/{}/format", category, name)));
    auto format = parse_tracepoint_format(text);
    if (!format) {
        return tl::unexpected(
            std::move(format).error().within(fmt::format("tracepoint {}:{}", category, name)));
    }
    return format;
}

Result<uint32_t> Tracefs::id(const std::string& category, const std::string& name) const {
    TR_TRY(check_names(category, name));
    TR_ASSIGN(const auto text, read(fmt::format("events/{}/{}/id", category, name)));
    uint32_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) {
        return fail(ErrorCode::bad_input,
                    fmt::format("tracepoint {}:{} has no valid id", category, name));
    }
    return value;
}

}  // namespace tracer
