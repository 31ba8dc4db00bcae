// SPDX-License-Identifier: Apache-2.0
//
// Small readers of /proc. A task may end while it is looked at: what cannot be read is not there.
// Used by the root tests about the tracer's own threads and about what it leaves behind.
#include "root/proc_view.h"

#include "support/fixtures/temp_folder.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tracer::test {
namespace {

std::string task_file(pid_t pid, pid_t tid, const char* name) {
    const std::string path =
        "/proc/" + std::to_string(pid) + "/task/" + std::to_string(tid) + "/" + name;
    std::ifstream file(path);
    std::string text;
    std::getline(file, text);
    return text;
}

Result<std::string> read_range(const std::string& path, uint64_t offset, size_t bytes) {
    std::ifstream file(path, std::ios::binary);
    std::string text(bytes, '\0');
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(text.data(), static_cast<std::streamsize>(bytes));
    // A mapping ends with its page, a file may end before it.
    if (file.gcount() <= 0) return fail(ErrorCode::io, "cannot read " + path);
    text.resize(static_cast<size_t>(file.gcount()));
    return text;
}

}  // namespace

std::vector<pid_t> threads_of(pid_t pid) {
    std::vector<pid_t> threads;
    std::error_code error;
    const std::string folder = "/proc/" + std::to_string(pid) + "/task";
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        threads.push_back(std::stoi(entry.path().filename()));
    }
    return threads;
}

std::optional<pid_t> thread_named(pid_t pid, const std::string& name) {
    for (const pid_t tid : threads_of(pid)) {
        if (task_file(pid, tid, "comm") == name) return tid;
    }
    return std::nullopt;
}

int scheduling_policy(pid_t pid, pid_t tid) {
    const std::string stat = task_file(pid, tid, "stat");
    const size_t name_end = stat.rfind(')');
    if (name_end == std::string::npos) return -1;
    std::istringstream fields(stat.substr(name_end + 1));
    std::string skipped;
    // proc(5): the name is field 2, the policy field 41.
    for (int field = 3; field < 41; field++) fields >> skipped;
    int policy = -1;
    fields >> policy;
    return policy;
}

uint64_t cpu_time_ns(pid_t pid, pid_t tid) {
    std::istringstream fields(task_file(pid, tid, "schedstat"));
    uint64_t ns = 0;
    fields >> ns;
    return ns;
}

Result<size_t> changed_text_bytes(pid_t pid) {
    const std::string folder = "/proc/" + std::to_string(pid);
    std::error_code error;
    const std::string program = std::filesystem::read_symlink(folder + "/exe", error);
    std::ifstream maps(folder + "/maps");
    std::string line;
    size_t changed = 0;
    size_t compared = 0;
    while (std::getline(maps, line)) {
        unsigned long begin = 0;
        unsigned long end = 0;
        unsigned long offset = 0;
        char rights[5] = {};
        if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx", &begin, &end, rights, &offset) != 4 ||
            rights[2] != 'x' || !line.ends_with(program)) {
            continue;
        }
        TR_ASSIGN(const std::string there, read_range(folder + "/mem", begin, end - begin));
        TR_ASSIGN(const std::string in_file, read_range(program, offset, end - begin));
        for (size_t i = 0; i < there.size() && i < in_file.size(); i++, compared++) {
            if (there[i] != in_file[i]) changed++;
        }
    }
    if (compared == 0) return fail(ErrorCode::not_found, "no text of " + program + " is mapped");
    return changed;
}

}  // namespace tracer::test
