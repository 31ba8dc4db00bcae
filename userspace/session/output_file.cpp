// SPDX-License-Identifier: Apache-2.0
//
// Names, formats and owners of what is written. Relies on the table of formats; a raw capture is
// the one format that is not a writer's. Called by the CLI for recordings and conversions.
#include "session/output_file.h"

#include "tracer/write/socket_sink.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace tracer {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";
constexpr std::string_view kTcpPrefix = "tcp:";

// Some ten thousand lines before any is lost.
constexpr size_t kShownBufferBytes = size_t{1} << 20;
constexpr size_t kShownBuffers = 8;

std::string known_formats() {
    std::string text;
    for (const Format& format : formats()) text += fmt::format("{}, ", format.suffix);
    return text + std::string(kCaptureSuffix);
}

std::optional<uint32_t> number_of(const char* name) {
    const char* text = std::getenv(name);
    if (text == nullptr) return std::nullopt;
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
    if (error != std::errc() || *end != '\0') return std::nullopt;
    return value;
}

// A name becomes part of a file's: a kernel task name may hold '/' and spaces.
std::string file_name_part(std::string_view name) {
    std::string part;
    for (const char c : name) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '+';
        part += is_plain ? c : '-';
    }
    return part.empty() ? "unnamed" : part;
}

FileSinkOptions file_options(bool real_time) {
    FileSinkOptions options;
    options.real_time = real_time;
    // One is filled while one is written.
    options.buffers_ready = 2;
    options.owner = owner_behind_sudo();
    return options;
}

Result<std::unique_ptr<ByteSink>> open_standard_output(std::string_view context,
                                                       const FileSinkOptions& options) {
    const int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
        return fail(ErrorCode::io, fmt::format("{}standard output is closed", context),
                    "send it to a file or a program: tracer ... | PROGRAM");
    }
    UniqueFd fd(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    if (!fd.valid()) return fail_errno(ErrorCode::io, errno, "open standard output");
    return make_fd_sink(std::move(fd), options);
}

}  // namespace

std::string_view OutputTarget::format_name() const {
    return format != nullptr ? format->name : kCaptureFormatName;
}

Result<OutputTarget> choose_output(const std::string& path, const std::string& format_name) {
    OutputTarget target{.path = path};
    if (!format_name.empty()) {
        if (format_name == kCaptureFormatName) return target;
        target.format = find_format_by_name(format_name);
        if (target.format == nullptr) {
            return fail(
                ErrorCode::usage, fmt::format("--format {}: no such format", format_name),
                fmt::format("formats are the suffixes {} without the dot", known_formats()));
        }
        return target;
    }
    if (path.empty() || path == "-") {
        target.format = find_format_by_name("fxt");
        TR_CHECK(target.format != nullptr);
        return target;
    }
    if (path.ends_with(kCaptureSuffix)) return target;
    target.format = find_format_by_path(path);
    if (target.format == nullptr) {
        return fail(ErrorCode::usage, fmt::format("-o {}: no format has this suffix", path),
                    fmt::format("suffixes are {}; or say --format", known_formats()));
    }
    return target;
}

std::string default_output_path(std::string_view name,
                                uint32_t pid,
                                std::string_view suffix,
                                time_t now) {
    tm local{};
    localtime_r(&now, &local);
    std::string stem = fmt::format("tracer-{}", file_name_part(name));
    if (pid != 0) stem += fmt::format("-{}", pid);
    stem += fmt::format("-{:%Y%m%d-%H%M%S}", local);
    std::string path = fmt::format("{}{}", stem, suffix);
    // Bounded by the recordings that start within one second; O_EXCL is not needed for a name
    // that holds the second and, but for -a, the pid.
    for (int i = 2; access(path.c_str(), F_OK) == 0; ++i) {
        path = fmt::format("{}-{}{}", stem, i, suffix);
    }
    return path;
}

std::optional<FileOwner> owner_behind_sudo() {
    if (geteuid() != 0) return std::nullopt;
    const auto uid = number_of("SUDO_UID");
    const auto gid = number_of("SUDO_GID");
    if (!uid || !gid) return std::nullopt;
    return FileOwner{*uid, *gid};
}

void remove_output(const std::string& path) {
    struct stat info {};
    if (path == "-" || lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
    static_cast<void>(unlink(path.c_str()));  // whoever asked has a worse error to tell
}

Result<std::unique_ptr<RotatingSink>> open_rotating_output_sink(const std::string& path,
                                                                const Rotation& rotation,
                                                                bool real_time) {
    if (path == "-") {
        return fail(ErrorCode::usage, "-o -: standard output cannot be rotated",
                    "name a file: -o trace.fxt");
    }
    return open_rotating_sink(path, {.file = file_options(real_time),
                                     .limits = rotation.limits,
                                     .keep_files = rotation.keep_files,
                                     .keep_bytes = rotation.keep_bytes,
                                     .compression = rotation.compression});
}

Result<std::unique_ptr<ByteSink>> open_output_sink(const std::string& path,
                                                   bool real_time,
                                                   bool is_text) {
    FileSinkOptions options = file_options(real_time);
    if (path != "-") return open_file_sink(path, options);
    if (!is_text && isatty(STDOUT_FILENO) == 1) {
        return fail(ErrorCode::usage, "-o -: standard output is a terminal, and a trace is binary",
                    "send it to a file or a program: tracer ... -o - | PROGRAM");
    }
    options.owner.reset();
    return open_standard_output("-o -: ", options);
}

Result<std::unique_ptr<ByteSink>> open_shown_sink(bool real_time) {
    FileSinkOptions options;
    options.real_time = real_time;
    options.buffers_ready = 2;
    options.buffer_bytes = kShownBufferBytes;
    options.buffer_count = kShownBuffers;
    return open_standard_output("", options);
}

bool is_socket_target(std::string_view target) {
    return target.starts_with(kUnixPrefix) || target.starts_with(kTcpPrefix);
}

Result<std::unique_ptr<ByteSink>> open_sink(const std::string& target, bool real_time) {
    const SocketSinkOptions options{.real_time = real_time};
    if (target.starts_with(kUnixPrefix)) {
        return connect_unix_sink(target.substr(kUnixPrefix.size()), options);
    }
    if (target.starts_with(kTcpPrefix)) {
        return connect_tcp_sink(target.substr(kTcpPrefix.size()), options);
    }
    return open_output_sink(target, real_time);
}

}  // namespace tracer
