// SPDX-License-Identifier: Apache-2.0
//
// Which files a program will load, found before it runs, in the order of ld.so(8): DT_RPATH,
// LD_LIBRARY_PATH, DT_RUNPATH, the folders of /etc/ld.so.conf, the default folders. The folders
// themselves are searched instead of the binary cache, which holds nothing else. Called by the
// search for target files when a program is to be started.
#include "symbol/library_search.h"

#include "symbol/elf_file.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <glob.h>
#include <set>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr size_t kFilesMax = 4096;
constexpr int kScriptDepthMax = 4;  // as the kernel's BINPRM_BUF chain allows
constexpr size_t kScriptLineMax = 256;
constexpr int kConfigDepthMax = 8;
constexpr std::array kDefaultFolders = {"/lib/x86_64-linux-gnu",
                                        "/usr/lib/x86_64-linux-gnu",
                                        "/lib64",
                                        "/usr/lib64",
                                        "/lib",
                                        "/usr/lib"};

std::vector<std::string> split(std::string_view text, std::string_view separators) {
    std::vector<std::string> parts;
    while (true) {
        const auto end = text.find_first_of(separators);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::string folder_of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
        text.replace(at, from.size(), to);
        at += to.size();
    }
}

// ld.so(8), "Dynamic string tokens".
std::string expand(std::string text, const std::string& origin) {
    for (auto token : {"$ORIGIN", "${ORIGIN}"}) replace_all(text, token, origin);
    for (auto token : {"$LIB", "${LIB}"}) replace_all(text, token, "lib/x86_64-linux-gnu");
    for (auto token : {"$PLATFORM", "${PLATFORM}"}) replace_all(text, token, "x86_64");
    return text;
}

void add_config_folders(const std::string& path, int depth, std::vector<std::string>& folders) {
    if (depth > kConfigDepthMax) return;
    std::ifstream file(path);
    std::string line;
    while (folders.size() < kFilesMax && std::getline(file, line)) {
        line = line.substr(0, line.find('#'));
        std::istringstream words(line);
        std::string word;
        if (!(words >> word)) continue;
        if (word != "include") {
            folders.push_back(word);
            continue;
        }
        while (words >> word) {
            if (word[0] != '/') word = fmt::format("{}/{}", folder_of(path), word);
            glob_t matches{};
            if (::glob(word.c_str(), 0, nullptr, &matches) == 0) {
                for (size_t i = 0; i < matches.gl_pathc; ++i) {
                    add_config_folders(matches.gl_pathv[i], depth + 1, folders);
                }
            }
            ::globfree(&matches);
        }
    }
}

bool is_executable_file(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
}

// The interpreter of a "#!" line; empty when the file is no script.
std::string script_interpreter(const FileBytes& file) {
    auto start = file.read(0, std::min<uint64_t>(file.size(), kScriptLineMax));
    if (!start || start->size() < 2) return {};
    std::string text;
    for (auto byte : *start) text += static_cast<char>(byte);
    if (!text.starts_with("#!")) return {};
    text = text.substr(2, text.find('\n') - 2);
    const auto begin = text.find_first_not_of(" \t");
    if (begin == std::string::npos) return {};
    text = text.substr(begin);
    return text.substr(0, text.find_first_of(" \t\r"));
}

// "#!/usr/bin/env python3": the program that env will start.
std::string program_of_env(const FileBytes& script, const SearchEnvironment& environment) {
    auto start = script.read(0, std::min<uint64_t>(script.size(), kScriptLineMax));
    if (!start) return {};
    std::string text;
    for (auto byte : *start) text += static_cast<char>(byte);
    std::istringstream words(text.substr(2, text.find('\n') - 2));
    std::string word;
    words >> word;
    // Options and assignments of env come before the program.
    while (words >> word) {
        if (word[0] == '-' || word.find('=') != std::string::npos) continue;
        auto found = find_program(word, environment);
        return found ? *found : std::string{};
    }
    return {};
}

class LibrarySearch {
public:
    explicit LibrarySearch(const SearchEnvironment& environment) {
        for (auto& folder : split(environment.library_path, ":;")) {
            if (!folder.empty()) library_path_.push_back(folder);
        }
        add_config_folders(environment.loader_config, 0, system_folders_);
        system_folders_.insert(system_folders_.end(), kDefaultFolders.begin(),
                               kDefaultFolders.end());
        preload_ = split(environment.preload, ": ");
    }

    std::vector<std::string> run(const std::string& program) {
        add(program);
        const auto program_folder = folder_of(program);
        for (const auto& name : preload_) {
            if (!name.empty()) add_needed(name, {}, program_folder);
        }
        // Each file is queued once, so the walk ends; kFilesMax bounds it besides.
        while (!queue_.empty()) {
            const auto path = std::move(queue_.front());
            queue_.pop_front();
            visit(path);
        }
        return std::move(files_);
    }

private:
    bool add(const std::string& path) {
        auto file = FileBytes::open(path);
        if (!file || files_.size() >= kFilesMax) return false;
        if (seen_.insert(file->identity()).second) {
            files_.push_back(path);
            queue_.push_back(path);
        }
        return true;
    }

    void visit(const std::string& path) {
        auto elf = ElfFile::open(path);
        if (!elf) return;
        if (!elf->interpreter().empty()) add(elf->interpreter());
        auto dynamic = elf->dynamic();
        if (!dynamic) return;
        const auto origin = folder_of(path);
        std::vector<std::string> run_folders;
        for (const auto& folder : split(dynamic->runpath, ":")) {
            if (!folder.empty()) run_folders.push_back(expand(folder, origin));
        }
        std::vector<std::string> folders;
        // DT_RPATH of a program counts for its libraries' needs too.
        if (dynamic->is_rpath)
            inherited_.insert(inherited_.end(), run_folders.begin(), run_folders.end());
        if (dynamic->runpath.empty() || dynamic->is_rpath) folders = inherited_;
        folders.insert(folders.end(), library_path_.begin(), library_path_.end());
        if (!dynamic->is_rpath) {
            folders.insert(folders.end(), run_folders.begin(), run_folders.end());
        }
        for (const auto& name : dynamic->needed) add_needed(name, folders, origin);
    }

    void add_needed(const std::string& name,
                    const std::vector<std::string>& folders,
                    const std::string& origin) {
        if (name.find('/') != std::string::npos) {
            add(expand(name, origin));
            return;
        }
        using Folders = std::vector<std::string>;
        for (const auto* list : std::initializer_list<const Folders*>{&folders, &system_folders_}) {
            for (const auto& folder : *list) {
                const auto path = fmt::format("{}/{}", folder, name);
                // A file of another machine does not end the search (ld.so skips it too).
                if (ElfFile::open(path).has_value() && add(path)) return;
            }
        }
    }

    std::vector<std::string> library_path_;
    std::vector<std::string> system_folders_;
    std::vector<std::string> preload_;
    std::vector<std::string> inherited_;
    std::vector<std::string> files_;
    std::deque<std::string> queue_;
    std::set<FileIdentity> seen_;
};

}  // namespace

SearchEnvironment SearchEnvironment::of_this_process() {
    auto value = [](const char* name) {
        const char* text = std::getenv(name);
        return std::string(text == nullptr ? "" : text);
    };
    SearchEnvironment environment;
    environment.path = value("PATH");
    environment.library_path = value("LD_LIBRARY_PATH");
    environment.preload = value("LD_PRELOAD");
    return environment;
}

Result<std::string> find_program(const std::string& command, const SearchEnvironment& environment) {
    if (command.find('/') != std::string::npos) {
        if (is_executable_file(command)) return command;
        auto file = FileBytes::open(command);
        if (!file && file.error().sys_errno == ENOENT) {
            return fail(ErrorCode::not_found, fmt::format("no program {}", command));
        }
        if (!file) return tl::unexpected(std::move(file).error());
        return fail(
            ErrorCode::bad_input, fmt::format("{} is not executable", command),
            fmt::format("chmod +x {}, or name its interpreter: tracer -- sh {}", command, command));
    }
    for (const auto& folder : split(environment.path, ":")) {
        const auto path = (folder.empty() ? std::string(".") : folder) + "/" + command;
        if (is_executable_file(path)) return path;
    }
    return fail(ErrorCode::not_found,
                fmt::format("no program '{}' in PATH ({})", command, environment.path));
}

Result<std::vector<std::string>> files_of_program(const std::string& program_path,
                                                  const SearchEnvironment& environment) {
    auto path = program_path;
    for (int depth = 0; depth <= kScriptDepthMax; ++depth) {
        TR_ASSIGN(const auto file, FileBytes::open(path));
        auto interpreter = script_interpreter(file);
        if (interpreter.empty()) {
            TR_ASSIGN(const auto elf, ElfFile::open(path));
            return LibrarySearch(environment).run(elf.name());
        }
        if (interpreter.ends_with("/env")) {
            if (auto program = program_of_env(file, environment); !program.empty()) {
                interpreter = std::move(program);
            }
        }
        path = std::move(interpreter);
    }
    return fail(ErrorCode::limit, fmt::format("{}: more than {} scripts name one another",
                                              program_path, kScriptDepthMax));
}

}  // namespace tracer
