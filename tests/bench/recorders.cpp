// SPDX-License-Identifier: Apache-2.0
//
// Starts and stops what is measured. The tracer is the built program, run like a user's.
#include "recorders.h"

#include "bench_bpf.skel.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tracer::bench {

std::unique_ptr<EmptyProgram> EmptyProgram::on_site(const std::string& path,
                                                    uint64_t file_offset,
                                                    uint64_t semaphore_offset,
                                                    pid_t pid) {
    auto empty = std::unique_ptr<EmptyProgram>(new EmptyProgram());
    empty->skeleton_ = bench_bpf__open();
    if (empty->skeleton_ == nullptr) return nullptr;
    bpf_program* program = empty->skeleton_->progs.bench_empty_uprobe;
    bpf_program__set_autoload(program, true);
    bpf_program__set_expected_attach_type(program,
                                          static_cast<bpf_attach_type>(kUprobeMultiAttachType));
    if (bench_bpf__load(empty->skeleton_) != 0) return nullptr;
    UprobeRequest request;
    request.path = path;
    request.pid = static_cast<uint32_t>(pid);
    request.places = {{file_offset, semaphore_offset, 0}};
    auto link = attach_uprobe_multi(bpf_program__fd(program), request);
    if (!link) return nullptr;
    empty->link_ = std::move(*link);
    return empty;
}

std::unique_ptr<EmptyProgram> EmptyProgram::on_switch(Work work) {
    auto empty = std::unique_ptr<EmptyProgram>(new EmptyProgram());
    empty->skeleton_ = bench_bpf__open();
    if (empty->skeleton_ == nullptr) return nullptr;
    auto& programs = empty->skeleton_->progs;
    const bool records = work == Work::clock_and_record;
    bpf_program__set_autoload(programs.bench_empty_switch, !records);
    bpf_program__set_autoload(programs.bench_empty_waking, work == Work::switch_and_waking);
    bpf_program__set_autoload(programs.bench_record_switch, records);
    bpf_program__set_autoload(programs.bench_record_waking, records);
    if (bench_bpf__load(empty->skeleton_) != 0) return nullptr;
    if (bench_bpf__attach(empty->skeleton_) != 0) return nullptr;
    return empty;
}

EmptyProgram::~EmptyProgram() {
    link_.reset();
    bench_bpf__destroy(skeleton_);
}

TracerRecording::TracerRecording(std::vector<std::string> arguments, const ScratchFolder& folder)
    : output_(folder.path("bench.fxt")),
      summary_path_(folder.path("summary.json")),
      error_path_(folder.path("tracer.err")) {
    std::vector<std::string> command{TRACER_BINARY, "--json", "-o", output_};
    command.insert(command.end(), arguments.begin(), arguments.end());
    pid_ = start_program(command, summary_path_, error_path_);
}

TracerRecording::~TracerRecording() {
    if (pid_ > 0) stop_program(pid_, 20);
}

bool TracerRecording::wait_ready(double seconds) {
    bool ended = false;
    const bool ready = wait_until(seconds, [&] {
        ended = waitpid(pid_, nullptr, WNOHANG) == pid_;
        return ended || read_file(error_path_).find("recording") != std::string::npos;
    });
    if (ended) pid_ = -1;
    return ready && !ended;
}

void TracerRecording::stop() {
    if (pid_ <= 0) return;
    stop_program(pid_, 60);
    pid_ = -1;
    read_summary();
}

bool TracerRecording::finish(double seconds) {
    int status = -1;
    if (!wait_until(seconds, [&] { return waitpid(pid_, &status, WNOHANG) == pid_; })) {
        stop();
        return false;
    }
    pid_ = -1;
    read_summary();
    return status == 0;
}

void TracerRecording::read_summary() {
    bytes_ = file_bytes(output_);
    const auto summary = nlohmann::json::parse(read_file(summary_path_), nullptr, false);
    if (summary.is_discarded()) return;
    events_ = summary.value("events", uint64_t{0});
    const auto& loss = summary["loss"];
    for (const char* cause : {"ring_full", "missed", "sink_full", "malformed"}) {
        const auto count = loss.value(cause, uint64_t{0});
        lost_ += count;
        if (count > 0) losses_ += fmt::format(" {} {}", cause, count);
    }
}

std::string TracerRecording::diagnosis() const {
    return read_file(error_path_);
}

}  // namespace tracer::bench
