// SPDX-License-Identifier: Apache-2.0
//
// Measuring helpers of the benchmarks; they rely on /proc alone.
#include "bench_support.h"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer::bench {

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

void Samples::add(const std::string& variant, double value) {
    if (values_.count(variant) == 0) order_.push_back(variant);
    values_[variant].push_back(value);
}

double Samples::median_of(const std::string& variant) const {
    const auto found = values_.find(variant);
    return found == values_.end() ? 0 : median(found->second);
}

double Samples::added_to(const std::string& base, const std::string& variant) const {
    const auto from = values_.find(base);
    const auto to = values_.find(variant);
    if (from == values_.end() || to == values_.end()) return 0;
    std::vector<double> differences;
    const size_t rounds = std::min(from->second.size(), to->second.size());
    for (size_t i = 0; i < rounds; ++i) differences.push_back(to->second[i] - from->second[i]);
    return median(std::move(differences));
}

std::vector<double> Samples::ratios_to(const std::string& base, const std::string& variant) const {
    const auto from = values_.find(base);
    const auto to = values_.find(variant);
    if (from == values_.end() || to == values_.end()) return {};
    std::vector<double> ratios;
    const size_t rounds = std::min(from->second.size(), to->second.size());
    for (size_t i = 0; i < rounds; ++i) ratios.push_back(to->second[i] / from->second[i]);
    return ratios;
}

void Samples::print(const std::string& title, const std::string& unit) const {
    fmt::print("{}\n", title);
    for (const std::string& variant : order_) {
        const auto& values = values_.at(variant);
        fmt::print("  {:<34} {:>10.1f} {}  ({:.1f} to {:.1f}, {} rounds)\n", variant,
                   median(values), unit, *std::min_element(values.begin(), values.end()),
                   *std::max_element(values.begin(), values.end()), values.size());
    }
}

void print_goal(const std::string& what, double reached, double goal_max) {
    fmt::print("  {:<58} {:>8.2f}  goal <= {:g}  {}\n", what, reached, goal_max,
               reached <= goal_max ? "reached" : "MISSED");
}

double process_cpu_ns(pid_t pid) {
    double sum = 0;
    std::error_code error;
    const auto folder = fmt::format("/proc/{}/task", pid);
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        std::ifstream file(entry.path() / "schedstat");
        double ran_ns = 0;
        if (file >> ran_ns) sum += ran_ns;
    }
    return sum;
}

bool wait_until(double seconds, const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

pid_t start_program(const std::vector<std::string>& arguments,
                    const std::string& stdout_path,
                    const std::string& stderr_path) {
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid != 0) return pid;
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGINT);  // a benchmark that is cut short leaves no recorder behind
    const auto redirect = [](const std::string& path, int to) {
        const char* name = path.empty() ? "/dev/null" : path.c_str();
        const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd >= 0) dup2(fd, to);
    };
    redirect(stdout_path, STDOUT_FILENO);
    redirect(stderr_path, STDERR_FILENO);
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
}

int stop_program(pid_t pid, double seconds) {
    int status = 0;
    kill(pid, SIGINT);
    const auto ended = [&] { return waitpid(pid, &status, WNOHANG) == pid; };
    if (!wait_until(seconds, ended)) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
    }
    return status;
}

bool is_installed(const std::string& program) {
    for (const char* folder : {"/usr/bin/", "/usr/sbin/", "/usr/local/bin/"}) {
        if (access((folder + program).c_str(), X_OK) == 0) return true;
    }
    return false;
}

uint64_t file_bytes(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 ? static_cast<uint64_t>(status.st_size) : 0;
}

std::string read_file(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

ScratchFolder::ScratchFolder() {
    char name[] = "/tmp/tracer-bench-XXXXXX";
    if (mkdtemp(name) != nullptr) path_ = name;
}

ScratchFolder::~ScratchFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

}  // namespace tracer::bench
