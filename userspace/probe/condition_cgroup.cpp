// SPDX-License-Identifier: Apache-2.0
//
// A cgroup's number. In the one hierarchy of version 2 it is the inode number of its folder, which
// is what the kernel's programs see (kernfs_node id; 64 bits since Linux 5.5). Called by the
// compiler of conditions.
#include "probe/probe_compiler.h"

#include <charconv>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/stat.h>

#include <fmt/format.h>

namespace tracer {

namespace {

// Where version 2 is mounted: /sys/fs/cgroup, or below it beside version 1.
std::string cgroup_mount() {
    std::ifstream mounts("/proc/self/mounts");
    std::string line;
    while (std::getline(mounts, line)) {
        std::istringstream words(line);
        std::string device;
        std::string folder;
        std::string type;
        if (words >> device >> folder >> type && type == "cgroup2") return folder;
    }
    return {};
}

}  // namespace

Result<uint64_t> find_cgroup(std::string_view path_or_id) {
    uint64_t id = 0;
    const auto* end = path_or_id.data() + path_or_id.size();
    const auto [rest, error] = std::from_chars(path_or_id.data(), end, id);
    if (error == std::errc{} && rest == end) return id;
    const std::string mount = cgroup_mount();
    if (mount.empty()) {
        return fail(ErrorCode::missing_feature, "no cgroup v2 is mounted here");
    }
    std::string path(path_or_id);
    if (!path.starts_with(mount)) {
        path = fmt::format("{}{}{}", mount, path.starts_with('/') ? "" : "/", path_or_id);
    }
    struct stat info {};
    if (stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
        return fail(
            ErrorCode::not_found, fmt::format("no cgroup {}", path),
            "systemd-cgls lists them; a path begins below the mount: system.slice/x.service");
    }
    return uint64_t{info.st_ino};
}

}  // namespace tracer
