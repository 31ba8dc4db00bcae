// SPDX-License-Identifier: Apache-2.0
//
// Which files probes are searched in. Relies on /proc; a process may end at any moment, so those
// that are gone are left out as long as one is there. Called by the session before probes are
// compiled, and by `tracer list`.
#include "probe/target_files.h"

#include "probe/wildcard.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <dirent.h>
#include <memory>
#include <set>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr size_t kFilesMax = 20000;
constexpr std::string_view kDebugFolder = "/usr/lib/debug/";

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};

Result<std::vector<pid_t>> all_processes() {
    std::unique_ptr<DIR, CloseFolder> folder(::opendir("/proc"));
    if (!folder) {
        int error = errno;
        return fail_errno(ErrorCode::io, error, "open /proc");
    }
    std::vector<pid_t> pids;
    while (const auto* entry = ::readdir(folder.get())) {
        const std::string_view name = entry->d_name;
        pid_t pid = 0;
        auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (error == std::errc{} && end == name.data() + name.size()) pids.push_back(pid);
    }
    return pids;
}

// "libc.so" for "libc.so.6", but not for "libc.so.6.debug.txt" of another kind.
bool is_version_of(std::string_view wanted, std::string_view name) {
    return wanted.find(".so") != std::string_view::npos && name.starts_with(wanted) &&
           name.size() > wanted.size() && name[wanted.size()] == '.';
}

}  // namespace

std::string_view base_name(std::string_view path) {
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

void TargetFiles::add_file(const TargetFile& file, pid_t pid) {
    if (files_.size() >= kFilesMax || file.shown_path.starts_with(kDebugFolder)) return;
    const auto identity = identity_of(file.open_path);
    if (!identity) return;
    const auto [known, is_new] = known_.try_emplace(*identity, files_.size());
    if (is_new) {
        files_.push_back(file);
        identities_.push_back(*identity);
        runners_.emplace_back();
    }
    // Of one process the files come together.
    std::vector<pid_t>& runners = runners_[known->second];
    if (pid != 0 && (runners.empty() || runners.back() != pid)) runners.push_back(pid);
}

void TargetFiles::merge(const TargetFiles& other) {
    for (const auto& file : other.files_) add_file(file);
    for (const auto& root : other.roots_) {
        if (std::find(roots_.begin(), roots_.end(), root) == roots_.end()) roots_.push_back(root);
    }
    if (subject_.empty()) {
        subject_ = other.subject_;
    } else if (!other.subject_.empty() && other.subject_ != subject_) {
        subject_ += " and " + other.subject_;
    }
}

Result<TargetFiles> TargetFiles::of_processes(std::span<const pid_t> pids) {
    TargetFiles result;
    size_t gone = 0;
    for (auto pid : pids) {
        const auto files = read_mapped_files(pid);
        if (!files) {
            // A server's children come and go; only when nobody is left there is nothing to trace.
            if (files.error().code != ErrorCode::not_found || ++gone == pids.size()) {
                return tl::unexpected(files.error());
            }
            continue;
        }
        for (const auto& file : *files) result.add_file({file.open_path, file.shown_path}, pid);
        result.roots_.push_back(fmt::format("/proc/{}/root", pid));
    }
    result.subject_ = pids.size() == 1 ? fmt::format("process {}", pids[0])
                                       : fmt::format("{} processes", pids.size());
    return result;
}

Result<TargetFiles> TargetFiles::of_program(const std::string& command,
                                            const SearchEnvironment& environment) {
    TR_ASSIGN(const auto program, find_program(command, environment));
    TR_ASSIGN(const auto paths, files_of_program(program, environment));
    TargetFiles result;
    for (const auto& path : paths) result.add_file({path, path});
    result.subject_ = program;
    return result;
}

Result<TargetFiles> TargetFiles::of_system() {
    TR_ASSIGN(const auto pids, all_processes());
    TargetFiles result;
    for (auto pid : pids) {
        auto files = read_mapped_files(pid);
        if (!files) continue;
        for (const auto& file : *files) {
            // Any of these processes may be gone when the probes are attached, and its /proc
            // folder with it: the plain path is better where it leads to the same file.
            const bool is_plain = identity_of(file.shown_path) == file.identity;
            result.add_file({is_plain ? file.shown_path : file.open_path, file.shown_path}, pid);
        }
    }
    result.subject_ = "every process";
    return result;
}

TargetFiles TargetFiles::of_file(const TargetFile& file, const std::string& root) {
    TargetFiles result;
    result.add_file(file);
    result.roots_.push_back(root);
    result.is_complete_ = true;
    return result;
}

std::vector<TargetFile> TargetFiles::find(std::string_view path) const {
    if (path.find('/') != std::string_view::npos) return find_path(std::string(path));
    std::vector<TargetFile> found;
    for (const auto& file : files_) {
        if (wildcard_matches(path, base_name(file.shown_path))) found.push_back(file);
    }
    if (!found.empty()) return found;
    for (const auto& file : files_) {
        if (is_version_of(path, base_name(file.shown_path))) found.push_back(file);
    }
    if (found.empty()) found = find_other_name(path);
    return found;
}

std::vector<TargetFile> TargetFiles::find_other_name(std::string_view name) const {
    std::vector<TargetFile> found;
    auto roots = roots_;
    roots.emplace_back();
    for (size_t i = 0; i < files_.size(); ++i) {
        const std::string_view path = files_[i].shown_path;
        const auto folder = path.substr(0, path.size() - base_name(path).size());
        const bool is_named = std::ranges::any_of(roots, [&](const std::string& root) {
            return identity_of(fmt::format("{}{}{}", root, folder, name)) == identities_[i];
        });
        if (is_named) found.push_back(files_[i]);
    }
    return found;
}

std::vector<TargetFile> TargetFiles::find_path(const std::string& path) const {
    std::vector<TargetFile> found;
    std::set<FileIdentity> seen;
    auto roots = roots_;
    if (roots.empty() || path[0] != '/') roots = {""};
    for (const auto& root : roots) {
        const auto open_path = root + path;
        const auto identity = identity_of(open_path);
        if (!identity || !seen.insert(*identity).second) continue;
        // A path through map_files stays right when the name is given to another file later.
        auto known = std::find(identities_.begin(), identities_.end(), *identity);
        if (known != identities_.end()) {
            const auto& file = files_[static_cast<size_t>(known - identities_.begin())];
            found.push_back({file.open_path, path});
        } else if (!is_complete_) {
            found.push_back({open_path, path});
        }
    }
    // An upgraded program: the name leads to another file, the running one is only mapped.
    for (size_t i = 0; i < files_.size(); ++i) {
        if (files_[i].shown_path == path && seen.insert(identities_[i]).second) {
            found.push_back(files_[i]);
        }
    }
    return found;
}

std::string TargetFiles::describe() const {
    if (subject_.empty() && files_.size() == 1) return files_.front().shown_path;
    const auto count = fmt::format("{} file{}", files_.size(), files_.size() == 1 ? "" : "s");
    return subject_.empty() ? count : fmt::format("{} of {}", count, subject_);
}

}  // namespace tracer
