// SPDX-License-Identifier: Apache-2.0
//
// debuginfod by its client program: its library would bring a network stack into every run of ours.
// Called by the search for debug files when the user asked for it.
#include "symbol/debuginfod.h"

#include "tracer/base/unique_fd.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr const char* kProgram = "debuginfod-find";

// Our own environment, with a bound on the time unless the user has set one.
std::vector<std::string> environment_of_client() {
    constexpr std::string_view kMaxTime = "DEBUGINFOD_MAXTIME=";
    std::vector<std::string> out;
    bool has_bound = false;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        out.emplace_back(*entry);
        has_bound |= out.back().starts_with(kMaxTime);
    }
    if (!has_bound) out.push_back(fmt::format("{}60", kMaxTime));
    return out;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> out;
    out.reserve(texts.size() + 1);
    for (auto& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

// What it prints, at most a path's length.
std::string read_output(int fd) {
    std::string text;
    std::array<char, 512> part{};
    while (text.size() < PATH_MAX) {
        const ssize_t got = ::read(fd, part.data(), part.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        text.append(part.data(), static_cast<size_t>(got));
    }
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

}  // namespace

Result<std::string> fetch_from_debuginfod(std::string_view build_id) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        const int error = errno;
        return fail_errno(ErrorCode::io, error, "pipe");
    }
    UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, writer.get(), STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::vector<std::string> words = {kProgram, "debuginfo", std::string(build_id)};
    auto environment = environment_of_client();
    pid_t pid = 0;
    const int error = ::posix_spawnp(&pid, kProgram, &actions, nullptr, pointers_to(words).data(),
                                     pointers_to(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        return fail_errno(ErrorCode::missing_feature, error, fmt::format("start {}", kProgram),
                          "install the package debuginfod, or leave out --debuginfod");
    }
    writer = UniqueFd();
    auto path = read_output(reader.get());
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !path.starts_with('/')) {
        return fail(ErrorCode::not_found,
                    fmt::format("debuginfod has no debug file for build-id {}", build_id),
                    "the environment variable DEBUGINFOD_URLS names the servers that are asked");
    }
    return path;
}

}  // namespace tracer
