// SPDX-License-Identifier: Apache-2.0
//
// The things that are measured against each other: our program as a user starts it, programs that
// do nothing, and the peers that happen to be installed.
#pragma once

#include "bench_support.h"
#include "probe/uprobe_link.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct bench_bpf;

namespace tracer::bench {

// An empty program at one site of a file, or on every switch, until destroyed.
class EmptyProgram {
public:
    static std::unique_ptr<EmptyProgram> on_site(const std::string& path,
                                                 uint64_t file_offset,
                                                 uint64_t semaphore_offset,
                                                 pid_t pid);
    enum class Work : uint8_t { switch_only, switch_and_waking, clock_and_record };
    // Empty ones, or (clock_and_record) with the least that a recorder must do.
    static std::unique_ptr<EmptyProgram> on_switch(Work work);
    ~EmptyProgram();
    EmptyProgram(const EmptyProgram&) = delete;
    EmptyProgram& operator=(const EmptyProgram&) = delete;

private:
    EmptyProgram() = default;
    bench_bpf* skeleton_ = nullptr;
    std::unique_ptr<UprobeLink> link_;
};

// One run of build/.../tracer in a session of its own.
class TracerRecording {
public:
    TracerRecording(std::vector<std::string> arguments, const ScratchFolder& folder);
    ~TracerRecording();
    TracerRecording(const TracerRecording&) = delete;
    TracerRecording& operator=(const TracerRecording&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }
    // Waits until it says that it records; false: it ended or the deadline passed.
    [[nodiscard]] bool wait_ready(double seconds);
    // CPU time of the program so far.
    [[nodiscard]] double cpu_ns() const { return process_cpu_ns(pid_); }
    // Ends it; afterwards the numbers of its summary hold.
    void stop();
    // Waits until it ends by itself, then as stop(); false: not in that time, or with an error.
    [[nodiscard]] bool finish(double seconds);

    [[nodiscard]] uint64_t events() const { return events_; }
    [[nodiscard]] uint64_t lost() const { return lost_; }
    [[nodiscard]] uint64_t bytes() const { return bytes_; }
    // " ring_full 12": lost() by cause, empty when nothing was.
    [[nodiscard]] const std::string& losses() const { return losses_; }
    [[nodiscard]] std::string diagnosis() const;

private:
    void read_summary();

    std::string output_;
    std::string summary_path_;
    std::string error_path_;
    pid_t pid_ = -1;
    uint64_t events_ = 0;
    uint64_t lost_ = 0;
    std::string losses_;
    uint64_t bytes_ = 0;
};

}  // namespace tracer::bench
