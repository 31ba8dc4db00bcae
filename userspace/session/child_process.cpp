// SPDX-License-Identifier: Apache-2.0
//
// Starts the program of `-- cmd` in two steps. fork() gives a pid that can be armed; the child then
// reads one byte from a pipe and calls exec. A second pipe, closed by exec, brings back the errno
// of one that failed. If the tracer dies between, the first pipe's end lets the child end too.
// Relies on being called before any thread exists: only async-signal-safe calls after fork().
#include "session/child_process.h"

#include "symbol/library_search.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {
namespace {

constexpr int kNotStarted = 127;

struct Pipe {
    UniqueFd read_end;
    UniqueFd write_end;
};

Result<Pipe> make_pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        return fail_errno(ErrorCode::io, errno, "make a pipe");
    }
    return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// In the child: signals as a program expects them, then wait for the byte, then exec.
[[noreturn]] void run_child(const char* path, char** arguments, int go, int failure) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    signal(SIGPIPE, SIG_DFL);
    char byte = 0;
    ssize_t got = 0;
    do {
        got = read(go, &byte, 1);
    } while (got < 0 && errno == EINTR);
    if (got != 1) _exit(kNotStarted);
    execv(path, arguments);
    const int code = errno;
    // A failed write leaves an empty pipe: the parent then sees the exit status alone.
    if (write(failure, &code, sizeof(code)) < 0) _exit(kNotStarted);
    _exit(kNotStarted);
}

std::string exec_hint(int code) {
    switch (code) {
        case ENOEXEC:
            return "neither a program nor a script with a #! line; name its interpreter: "
                   "tracer -- sh FILE";
        case EACCES:
            return "the file, its interpreter or a folder on the way may not be executed";
        case ENOENT:
            return "the interpreter that its first line or its ELF header names does not exist";
        default:
            return {};
    }
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& command) {
    TR_CHECK(!command.empty());
    TR_ASSIGN(std::string path,
              find_program(command.front(), SearchEnvironment::of_this_process()));
    TR_ASSIGN(Pipe go, make_pipe());
    TR_ASSIGN(Pipe failure, make_pipe());
    // exec takes char* but changes nothing; the copies live until then.
    std::vector<std::string> texts = command;
    std::vector<char*> arguments;
    arguments.reserve(texts.size() + 1);
    for (std::string& text : texts) arguments.push_back(text.data());
    arguments.push_back(nullptr);
    const pid_t pid = fork();
    if (pid < 0) return fail_errno(ErrorCode::io, errno, "fork");
    if (pid == 0) {
        // The child must not hold the end that it waits to see closed.
        go.write_end.reset();
        run_child(path.c_str(), arguments.data(), go.read_end.get(), failure.write_end.get());
    }
    return ChildProcess(static_cast<uint32_t>(pid), std::move(path), std::move(go.write_end),
                        std::move(failure.read_end));
}

ChildProcess::~ChildProcess() {
    if (!go_.valid()) return;
    go_.reset();
    waitpid(static_cast<pid_t>(pid_), nullptr, 0);
}

Status ChildProcess::release() {
    const char byte = 1;
    if (write(go_.get(), &byte, 1) != 1) {
        return fail_errno(ErrorCode::io, errno, fmt::format("start {}", path_));
    }
    int code = 0;
    ssize_t got = 0;
    do {
        got = read(failure_.get(), &code, sizeof(code));
    } while (got < 0 && errno == EINTR);
    go_.reset();
    failure_.reset();
    if (got != sizeof(code)) return {};
    waitpid(static_cast<pid_t>(pid_), nullptr, 0);
    return fail_errno(ErrorCode::not_found, code, fmt::format("execute {}", path_),
                      exec_hint(code));
}

std::string ChildProcess::reap() {
    int status = 0;
    if (waitpid(static_cast<pid_t>(pid_), &status, WNOHANG) != static_cast<pid_t>(pid_)) return {};
    if (WIFSIGNALED(status)) return fmt::format("was killed by signal {}", WTERMSIG(status));
    return fmt::format("exited with status {}", WEXITSTATUS(status));
}

}  // namespace tracer
