// SPDX-License-Identifier: Apache-2.0
//
// Names, cgroups and containers to what the kernel side judges by. Relies on /proc, on cgroup v2
// (the one hierarchy every task is in) and, for names of Docker's and Podman's containers, on the
// files in which these keep them. Called by the CLI before a recording, and by the discovery thread
// for cgroups made during one.
#include "session/selection.h"

#include "session/targets.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/stat.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tracer {
namespace {

namespace fs = std::filesystem;

constexpr size_t kNameBytesMax = TR_COMM_BYTES - 1;
constexpr size_t kStatesAWord = 64;
constexpr size_t kContainerIdDigits = 64;
constexpr size_t kIdPrefixMin = 4;
constexpr size_t kCgroupsMax = 100000;

// A pattern without its stars: which of its items have one before them.
struct CommPattern {
    std::string items;        // '?' is any byte
    std::vector<bool> stays;  // by state, items.size() + 1 of them
};

Result<CommPattern> read_pattern(const std::string& text) {
    CommPattern pattern;
    pattern.stays.push_back(false);
    for (const char c : text) {
        if (c == '*') {
            pattern.stays.back() = true;
            continue;
        }
        pattern.items.push_back(c);
        pattern.stays.push_back(false);
    }
    if (text.empty()) return fail(ErrorCode::usage, "--comm needs a name or a pattern");
    if (pattern.items.size() <= kNameBytesMax) return pattern;
    if (text.find_first_of("*?") != std::string::npos) {
        return fail(ErrorCode::usage,
                    fmt::format("no name fits \"{}\": the kernel keeps {} bytes of it", text,
                                kNameBytesMax),
                    "`ps -eo comm` shows names as they are kept");
    }
    // A name written out: as much of it as the kernel keeps.
    pattern.items.resize(kNameBytesMax);
    pattern.stays.resize(kNameBytesMax + 1);
    return pattern;
}

void add_pattern(tr_comm_word& word, size_t first_state, const CommPattern& pattern) {
    word.starts |= 1ULL << first_state;
    word.ends |= 1ULL << (first_state + pattern.items.size());
    for (size_t i = 0; i < pattern.stays.size(); ++i) {
        if (pattern.stays[i]) word.stays |= 1ULL << (first_state + i);
    }
    for (size_t i = 0; i < pattern.items.size(); ++i) {
        const uint64_t state = 1ULL << (first_state + i);
        const auto item = static_cast<unsigned char>(pattern.items[i]);
        if (item != '?') {
            word.accepts[item] |= state;
            continue;
        }
        for (uint64_t& accepts : word.accepts) accepts |= state;
    }
}

std::optional<uint64_t> parse_number(std::string_view text) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool is_container_id(std::string_view text) {
    return text.size() == kContainerIdDigits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// systemd writes bytes that a unit's name may not have as \x2d.
std::string unescape_unit(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        unsigned byte = 0;
        if (text.size() >= 4 && text.starts_with("\\x") &&
            std::from_chars(text.data() + 2, text.data() + 4, byte, 16).ptr == text.data() + 4) {
            out.push_back(static_cast<char>(byte));
            text.remove_prefix(4);
        } else {
            out.push_back(text.front());
            text.remove_prefix(1);
        }
    }
    return out;
}

std::optional<std::string_view> between(std::string_view text,
                                        std::string_view begin,
                                        std::string_view end) {
    if (text.size() <= begin.size() + end.size()) return std::nullopt;
    if (!text.starts_with(begin) || !text.ends_with(end)) return std::nullopt;
    return text.substr(begin.size(), text.size() - begin.size() - end.size());
}

std::optional<uint64_t> inode_of(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return std::nullopt;
    return status.st_ino;
}

// The path of a task's cgroup v2: the line "0::PATH" of its cgroup file.
std::string cgroup_path_of(const std::string& process_folder) {
    std::ifstream file(process_folder + "/cgroup");
    std::string line;
    while (std::getline(file, line)) {
        if (line.starts_with("0::/")) return line.substr(3);
    }
    return {};
}

// A file that is not there or not JSON has no names to give.
nlohmann::json read_json(const std::string& path) {
    std::ifstream file(path);
    return nlohmann::json::parse(file, nullptr, false);
}

}  // namespace

SelectionSystem SelectionSystem::of_this_machine() {
    SelectionSystem system;
    std::ifstream file("/proc/self/mountinfo");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    system.cgroup_root = find_cgroup_root(text);
    return system;
}

Result<std::vector<tr_comm_word>> compile_comm_patterns(const std::vector<std::string>& patterns) {
    std::vector<tr_comm_word> words;
    size_t states = kStatesAWord;  // taken of the last word
    for (const std::string& text : patterns) {
        TR_ASSIGN(const CommPattern pattern, read_pattern(text));
        if (states + pattern.stays.size() > kStatesAWord) {
            words.emplace_back();
            states = 0;
        }
        add_pattern(words.back(), states, pattern);
        states += pattern.stays.size();
    }
    if (words.size() > TR_COMM_WORDS) {
        return fail(
            ErrorCode::limit,
            fmt::format("{} names for --comm are more than the kernel side holds", patterns.size()),
            "name fewer with * and ?; 16 of any length always fit");
    }
    return words;
}

bool comm_fits(const std::vector<tr_comm_word>& words, std::string_view comm) {
    return std::ranges::any_of(words, [&](const tr_comm_word& word) {
        uint64_t states = word.starts;
        for (const char c : comm.substr(0, kNameBytesMax)) {
            states =
                (states & word.accepts[static_cast<unsigned char>(c)]) << 1 | (states & word.stays);
        }
        return (states & word.ends) != 0;
    });
}

std::optional<ContainerLabel> container_of_folder(std::string_view folder) {
    if (is_container_id(folder)) return ContainerLabel{std::string(folder), {}};
    for (const std::string_view runtime : {"docker-", "libpod-", "cri-containerd-", "crio-"}) {
        const auto id = between(folder, runtime, ".scope");
        if (id && is_container_id(*id)) return ContainerLabel{std::string(*id), {}};
    }
    if (const auto name = between(folder, "machine-", ".scope")) {
        return ContainerLabel{{}, unescape_unit(*name)};
    }
    if (const auto name = between(folder, "systemd-nspawn@", ".service")) {
        return ContainerLabel{{}, unescape_unit(*name)};
    }
    if (const auto name = between(folder, "lxc.payload.", "")) {
        return ContainerLabel{{}, std::string(*name)};
    }
    return std::nullopt;
}

std::string find_cgroup_root(std::string_view mountinfo) {
    while (!mountinfo.empty()) {
        const std::string_view line = mountinfo.substr(0, mountinfo.find('\n'));
        mountinfo.remove_prefix(std::min(mountinfo.size(), line.size() + 1));
        if (line.find(" - cgroup2 ") == std::string_view::npos) continue;
        // proc(5): id, parent, device, root, mount point.
        std::string_view rest = line;
        for (int i = 0; i < 4 && !rest.empty(); ++i) {
            rest.remove_prefix(std::min(rest.size(), rest.find(' ')));
            if (!rest.empty()) rest.remove_prefix(1);
        }
        return std::string(rest.substr(0, rest.find(' ')));
    }
    return {};
}

Result<Selection> Selection::make(const SelectionRequest& request, SelectionSystem system) {
    Selection selection;
    selection.request_ = request;
    selection.system_ = std::move(system);
    TR_ASSIGN(selection.comm_words_, compile_comm_patterns(request.comms));
    const bool needs_cgroups = !request.cgroups.empty() || !request.containers.empty();
    const std::string& root = selection.system_.cgroup_root;
    if (needs_cgroups && root.empty()) {
        return fail(ErrorCode::missing_feature, "--cgroup and --container need cgroup v2",
                    "mount -t cgroup2 none /sys/fs/cgroup/unified");
    }
    for (const std::string& text : request.cgroups) {
        if (const auto id = parse_number(text)) {
            selection.cgroup_ids_.push_back(*id);
            continue;
        }
        if (text.empty()) return fail(ErrorCode::usage, "--cgroup needs a path or an id");
        std::string path = text.starts_with(root + "/") ? text.substr(root.size()) : text;
        // As conditions and systemd-cgls have it: from the mount on.
        if (!path.starts_with('/')) path.insert(0, 1, '/');
        while (path.size() > 1 && path.ends_with('/')) path.pop_back();
        selection.cgroup_paths_.push_back(std::move(path));
    }
    for (const std::string& text : request.containers) {
        if (text.empty()) return fail(ErrorCode::usage, "--container needs a name or an id");
    }
    return selection;
}

SelectionRules Selection::rules() const {
    SelectionRules rules;
    rules.comm_words = comm_words_;
    rules.watches_cgroups = !request_.cgroups.empty() || !request_.containers.empty();
    if (rules.watches_cgroups) rules.cgroup_ids = find_cgroups();
    return rules;
}

bool Selection::names_cgroup(const std::string& path) const {
    if (std::ranges::find(cgroup_paths_, path) != cgroup_paths_.end()) return true;
    return !request_.containers.empty() &&
           names_container(std::string_view(path).substr(path.rfind('/') + 1));
}

bool Selection::names_container(std::string_view folder) const {
    const auto label = container_of_folder(folder);
    if (!label) return false;
    std::string name = label->name;
    const auto is_named = [&](const std::string& wanted) {
        const bool is_id = wanted.size() >= kIdPrefixMin && label->id.starts_with(wanted);
        return is_id || (!name.empty() && wanted == name);
    };
    if (std::ranges::any_of(request_.containers, is_named)) return true;
    if (label->id.empty()) return false;
    name = name_of_container(label->id);
    return std::ranges::any_of(request_.containers, is_named);
}

std::string Selection::name_of_container(const std::string& id) const {
    const auto docker = read_json(fmt::format("{}/{}/config.v2.json", system_.docker_root, id));
    if (docker.is_object() && docker.contains("Name") && docker["Name"].is_string()) {
        const auto name = docker["Name"].get<std::string>();
        return name.starts_with('/') ? name.substr(1) : name;
    }
    const auto podman = read_json(system_.podman_file);
    if (!podman.is_array()) return {};
    for (const auto& row : podman) {
        if (!row.is_object() || row.value("id", nlohmann::json()) != id) continue;
        const auto names = row.value("names", nlohmann::json::array());
        if (names.is_array() && !names.empty() && names[0].is_string()) {
            return names[0].get<std::string>();
        }
    }
    return {};
}

bool Selection::wants_cgroup(const std::string& path, uint64_t id) const {
    if (std::ranges::find(cgroup_ids_, id) != cgroup_ids_.end()) return true;
    // Other hierarchies have paths and numbers of their own.
    return names_cgroup(path) && inode_of(system_.cgroup_root + path) == id;
}

std::vector<uint64_t> Selection::find_cgroups() const {
    std::vector<uint64_t> ids = cgroup_ids_;
    for (const std::string& path : cgroup_paths_) {
        if (const auto id = inode_of(system_.cgroup_root + path)) ids.push_back(*id);
    }
    if (request_.containers.empty()) return ids;
    std::error_code error;
    size_t seen = 0;
    // Cgroups come and go: one that has gone ends its own part of the walk.
    for (auto entry = fs::recursive_directory_iterator(
             system_.cgroup_root, fs::directory_options::skip_permission_denied, error);
         !error && entry != fs::recursive_directory_iterator() && seen < kCgroupsMax;
         entry.increment(error)) {
        std::error_code gone;
        if (!entry->is_directory(gone)) continue;
        ++seen;
        if (!names_container(entry->path().filename().string())) continue;
        if (const auto id = inode_of(entry->path())) ids.push_back(*id);
    }
    return ids;
}

std::vector<uint32_t> Selection::find_processes() const {
    std::vector<uint32_t> found;
    if (is_empty()) return found;
    std::error_code error;
    for (auto entry = fs::directory_iterator(system_.proc_root, error);
         !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const auto pid = parse_number(entry->path().filename().string());
        if (pid && is_wanted_process(entry->path())) found.push_back(static_cast<uint32_t>(*pid));
    }
    return found;
}

std::vector<std::string> Selection::waiting_lines() const {
    std::vector<std::string> lines;
    const auto add = [&](const std::vector<std::string>& wanted, std::string_view what,
                         std::vector<std::string> SelectionRequest::*field) {
        for (const std::string& text : wanted) {
            SelectionRequest alone;
            alone.*field = {text};
            const auto selection = make(alone, system_);
            if (!selection || !selection->find_processes().empty()) continue;
            lines.push_back(
                fmt::format("waiting for a process {} {}: there is none now", what, text));
        }
    };
    add(request_.comms, "called", &SelectionRequest::comms);
    add(request_.cgroups, "in the cgroup", &SelectionRequest::cgroups);
    add(request_.containers, "of the container", &SelectionRequest::containers);
    return lines;
}

bool Selection::is_wanted_process(const std::string& folder) const {
    if (!comm_words_.empty()) {
        std::ifstream file(folder + "/comm");
        std::string comm;
        if (std::getline(file, comm) && comm_fits(comm_words_, comm)) return true;
    }
    if (request_.cgroups.empty() && request_.containers.empty()) return false;
    for (std::string path = cgroup_path_of(folder); path.size() > 1; path.resize(path.rfind('/'))) {
        if (names_cgroup(path)) return true;
        const auto id = inode_of(system_.cgroup_root + path);
        if (id && std::ranges::find(cgroup_ids_, *id) != cgroup_ids_.end()) return true;
    }
    return false;
}

}  // namespace tracer
