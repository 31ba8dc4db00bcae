// SPDX-License-Identifier: Apache-2.0
//
// Attaching one program at many places of one file.
#pragma once

#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct bpf_link;
struct bpf_program;

namespace tracer {

struct UprobePlace {
    uint64_t file_offset;
    uint64_t semaphore_offset;  // 0: none
    uint64_t cookie;
};

struct UprobeRequest {
    std::string path;  // as the kernel shall open it
    bool at_return = false;
    // At the entry and at the return of the same call; what the program returns at the entry
    // decides whether there is a return (0) or none (1). uprobe_multi only.
    bool is_session = false;
    uint32_t pid = 0;  // only this process runs the program; 0: every process
    std::vector<UprobePlace> places;
};

// Attached until destroyed. Holding hundreds of places in one link makes the detach take
// milliseconds; one perf-event link a place takes 0.1 s each.
class UprobeLink {
public:
    virtual ~UprobeLink() = default;
};

// One kernel uprobe_multi link (6.6 and later). The program must have been loaded with
// kUprobeMultiAttachType, or for a session kUprobeSessionAttachType, as its expected attach type.
[[nodiscard]] Result<std::unique_ptr<UprobeLink>> attach_uprobe_multi(int program_fd,
                                                                      const UprobeRequest& request);

// The way of older kernels: a perf event and a link for each place.
[[nodiscard]] Result<std::unique_ptr<UprobeLink>> attach_uprobe_each(const bpf_program* program,
                                                                     const UprobeRequest& request);

// BPF_TRACE_UPROBE_MULTI and BPF_TRACE_UPROBE_SESSION, which the headers of libbpf 1.1 do not have.
inline constexpr int kUprobeMultiAttachType = 48;
inline constexpr int kUprobeSessionAttachType = 57;

// Whether this kernel takes uprobe_multi links (6.6), and those of sessions (6.13), found by
// trying.
[[nodiscard]] bool has_uprobe_multi();
[[nodiscard]] bool has_uprobe_session();

}  // namespace tracer
