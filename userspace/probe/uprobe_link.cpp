// SPDX-License-Identifier: Apache-2.0
//
// uprobe links. libbpf 1.1 has no call for uprobe_multi, so that link is made with bpf(2) itself;
// newer libbpf (1.3, bpf_program__attach_uprobe_multi) can replace attach_uprobe_multi() here and
// nowhere else. Used by the kernel recorder.
#include "probe/uprobe_link.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

namespace tracer {
namespace {

constexpr uint32_t kUprobeMultiReturn = 1;  // BPF_F_UPROBE_MULTI_RETURN

// union bpf_attr's link_create as of kernel 6.6 (include/uapi/linux/bpf.h), uprobe_multi member.
struct LinkCreateUprobeMulti {
    uint32_t prog_fd;
    uint32_t target_fd;
    uint32_t attach_type;
    uint32_t flags;
    uint64_t path;
    uint64_t offsets;
    uint64_t ref_ctr_offsets;
    uint64_t cookies;
    uint32_t count;
    uint32_t uprobe_flags;
    uint32_t pid;
    uint32_t padding;
};
static_assert(offsetof(LinkCreateUprobeMulti, path) == 16);
static_assert(offsetof(LinkCreateUprobeMulti, pid) == 56);

uint64_t address_of(const void* pointer) {
    return reinterpret_cast<uintptr_t>(pointer);
}

int create_link(const LinkCreateUprobeMulti& attributes) {
    return static_cast<int>(syscall(__NR_bpf, BPF_LINK_CREATE, &attributes, sizeof(attributes)));
}

bool takes_links_of(int attach_type) {
    // A program of the right attach type, linked at no place at all: a kernel that knows
    // the type reads the request and answers EINVAL to the empty list or EBADF to the path; one
    // that does not cannot even load the program.
    const bpf_insn program[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
        {.code = BPF_JMP | BPF_EXIT},
    };
    bpf_prog_load_opts options{};
    options.sz = sizeof(options);
    options.expected_attach_type = static_cast<bpf_attach_type>(attach_type);
    const UniqueFd loaded(bpf_prog_load(BPF_PROG_TYPE_KPROBE, "tr_try_multi", "GPL", program,
                                        std::size(program), &options));
    if (!loaded.valid()) return false;
    // The root folder is no regular file: EBADF, after every other check has passed.
    const uint64_t offset = 0;
    LinkCreateUprobeMulti attributes{};
    attributes.prog_fd = static_cast<uint32_t>(loaded.get());
    attributes.attach_type = static_cast<uint32_t>(attach_type);
    attributes.path = address_of("/");
    attributes.offsets = address_of(&offset);
    attributes.count = 1;
    const UniqueFd link(create_link(attributes));
    return !link.valid() && errno == EBADF;
}

class MultiLink : public UprobeLink {
public:
    explicit MultiLink(UniqueFd link) : link_(std::move(link)) {}

private:
    UniqueFd link_;
};

class PerfLinks : public UprobeLink {
public:
    PerfLinks() = default;
    PerfLinks(const PerfLinks&) = delete;
    PerfLinks& operator=(const PerfLinks&) = delete;
    ~PerfLinks() override {
        for (bpf_link* link : links_) bpf_link__destroy(link);
    }
    void add(bpf_link* link) { links_.push_back(link); }

private:
    std::vector<bpf_link*> links_;
};

Error attach_error(ErrorCode code, int sys_errno, const UprobeRequest& request, std::string hint) {
    const size_t count = request.places.size();
    return fail_errno(code, sys_errno,
                      fmt::format("attach {} probe{}", count, count == 1 ? "" : "s"),
                      std::move(hint))
        .value();
}

Error explain_attach_error(int sys_errno, const UprobeRequest& request) {
    constexpr int kNotSupported = 524;  // ENOTSUPP, which has no text
    switch (sys_errno) {
        case kNotSupported:
        case ENOEXEC:
            return {ErrorCode::bad_input, sys_errno,
                    "the kernel can put no probe on the instruction there",
                    "probe a function that calls it or is called by it"};
        case EINVAL:
            return attach_error(
                ErrorCode::bad_input, sys_errno, request,
                "another tool may hold the same site without its semaphore (dmesg: \"ref_ctr_"
                "offset mismatch\"); stop it and try again");
        case ESRCH:
            return attach_error(ErrorCode::not_found, sys_errno, request, "the process has ended");
        case ENOENT:
            return attach_error(ErrorCode::not_found, sys_errno, request, "the file is gone");
        case EPERM:
        case EACCES:
            return attach_error(ErrorCode::permission, sys_errno, request, "run as root");
        default:
            return attach_error(ErrorCode::missing_feature, sys_errno, request,
                                "see: tracer doctor");
    }
}

}  // namespace

Result<std::unique_ptr<UprobeLink>> attach_uprobe_multi(int program_fd,
                                                        const UprobeRequest& request) {
    std::vector<uint64_t> offsets;
    std::vector<uint64_t> semaphores;
    std::vector<uint64_t> cookies;
    for (const UprobePlace& place : request.places) {
        offsets.push_back(place.file_offset);
        semaphores.push_back(place.semaphore_offset);
        cookies.push_back(place.cookie);
    }
    LinkCreateUprobeMulti attributes{};
    attributes.prog_fd = static_cast<uint32_t>(program_fd);
    attributes.attach_type = request.is_session ? kUprobeSessionAttachType : kUprobeMultiAttachType;
    attributes.path = address_of(request.path.c_str());
    attributes.offsets = address_of(offsets.data());
    attributes.ref_ctr_offsets = address_of(semaphores.data());
    attributes.cookies = address_of(cookies.data());
    attributes.count = static_cast<uint32_t>(offsets.size());
    attributes.uprobe_flags = request.at_return ? kUprobeMultiReturn : 0;
    attributes.pid = request.pid;
    UniqueFd link(create_link(attributes));
    if (!link.valid()) return tl::unexpected(explain_attach_error(errno, request));
    return std::make_unique<MultiLink>(std::move(link));
}

Result<std::unique_ptr<UprobeLink>> attach_uprobe_each(const bpf_program* program,
                                                       const UprobeRequest& request) {
    auto links = std::make_unique<PerfLinks>();
    const pid_t pid = request.pid == 0 ? -1 : static_cast<pid_t>(request.pid);
    for (const UprobePlace& place : request.places) {
        bpf_uprobe_opts options{};
        options.sz = sizeof(options);
        options.retprobe = request.at_return;
        options.bpf_cookie = place.cookie;
        options.ref_ctr_offset = place.semaphore_offset;
        bpf_link* link = bpf_program__attach_uprobe_opts(program, pid, request.path.c_str(),
                                                         place.file_offset, &options);
        if (link == nullptr) return tl::unexpected(explain_attach_error(errno, request));
        links->add(link);
    }
    return links;
}

bool has_uprobe_multi() {
    return takes_links_of(kUprobeMultiAttachType);
}

bool has_uprobe_session() {
    return takes_links_of(kUprobeSessionAttachType);
}

}  // namespace tracer
