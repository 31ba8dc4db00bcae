// SPDX-License-Identifier: Apache-2.0
//
// Processes chosen by what they are called (--comm), where they belong (--cgroup) and which
// container they are in (--container).
#pragma once

#include "probe/kernel_recorder.h"
#include "tracer/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

struct SelectionRequest {
    std::vector<std::string> comms;       // patterns with * and ?
    std::vector<std::string> cgroups;     // paths (below the mount point or from it) or ids
    std::vector<std::string> containers;  // names, or beginnings of ids
    [[nodiscard]] bool is_empty() const {
        return comms.empty() && cgroups.empty() && containers.empty();
    }
};

// Where the system keeps what a selection reads; tests have their own.
struct SelectionSystem {
    std::string proc_root = "/proc";
    std::string cgroup_root;  // where cgroup v2 is mounted; empty: nowhere
    std::string docker_root = "/var/lib/docker/containers";
    std::string podman_file = "/var/lib/containers/storage/overlay-containers/containers.json";

    [[nodiscard]] static SelectionSystem of_this_machine();
};

// A pattern's automaton in words of the kernel side (tracer/abi/selection.h). `limit` when they do
// not fit, `usage` for one that no name can fit.
[[nodiscard]] Result<std::vector<tr_comm_word>> compile_comm_patterns(
    const std::vector<std::string>& patterns);

// Runs them as the kernel side does.
[[nodiscard]] bool comm_fits(const std::vector<tr_comm_word>& words, std::string_view comm);

// What the name of a cgroup's folder says of the container in it. Known forms:
//   docker-ID.scope, libpod-ID.scope, cri-containerd-ID.scope, crio-ID.scope   (systemd drivers)
//   ID of 64 hexadecimal digits                                    (cgroupfs drivers, containerd)
//   machine-NAME.scope, systemd-nspawn@NAME.service                           (systemd-nspawn)
//   lxc.payload.NAME                                                                       (LXC)
struct ContainerLabel {
    std::string id;    // empty: it has a name alone
    std::string name;  // empty: it has an id alone
};
[[nodiscard]] std::optional<ContainerLabel> container_of_folder(std::string_view folder);

// Text after "mountpoint" of the cgroup2 file system in /proc/self/mountinfo; empty: none.
[[nodiscard]] std::string find_cgroup_root(std::string_view mountinfo);

class Selection {
public:
    Selection() = default;
    [[nodiscard]] static Result<Selection> make(const SelectionRequest& request,
                                                SelectionSystem system);

    [[nodiscard]] bool is_empty() const { return request_.is_empty(); }
    [[nodiscard]] const SelectionRequest& request() const { return request_; }
    // With the cgroups that there are now.
    [[nodiscard]] SelectionRules rules() const;

    // Whether a cgroup that was made just now is asked for itself; `path` from the hierarchy's
    // root.
    [[nodiscard]] bool wants_cgroup(const std::string& path, uint64_t id) const;
    // All that there are, by id.
    [[nodiscard]] std::vector<uint64_t> find_cgroups() const;

    // Processes that fit now, for where probes are looked for; the kernel side judges again.
    [[nodiscard]] std::vector<uint32_t> find_processes() const;

    // Of each pattern that nobody fits yet: "waiting for a process called pg*".
    [[nodiscard]] std::vector<std::string> waiting_lines() const;

private:
    [[nodiscard]] bool names_cgroup(const std::string& path) const;
    [[nodiscard]] bool names_container(std::string_view folder) const;
    [[nodiscard]] std::string name_of_container(const std::string& id) const;
    [[nodiscard]] bool is_wanted_process(const std::string& folder) const;

    SelectionRequest request_;
    SelectionSystem system_;
    std::vector<tr_comm_word> comm_words_;
    std::vector<uint64_t> cgroup_ids_;  // of --cgroup ID
    std::vector<std::string>
        cgroup_paths_;  // of --cgroup PATH, from the root, without a '/' behind
};

}  // namespace tracer
