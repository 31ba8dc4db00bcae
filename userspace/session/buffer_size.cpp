// SPDX-License-Identifier: Apache-2.0
//
// How large the rings are. The rule: bytes >= peak records/s * bytes of a record * the longest time
// that nobody drains. The drain thread comes every 100 ms at the latest, unless its bounded share
// is used up; a second is room for that. Called when a recording is prepared and, for the advice
// after losses, by the summary.
#include "session/buffer_size.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {
namespace {

constexpr uint64_t kRecordsPerSwitch = 2;       // the switch and the wakeup before it
constexpr uint64_t kSwitchRecordBytes = 56;     // 48 and the ring's own 8
constexpr uint64_t kRingBytesLimit = 1u << 31;  // of the kernel: a power of two in 32 bits
constexpr long kMeasureNs = 50'000'000;

uint64_t read_proc_number(const char* path, const std::string& key) {
    std::ifstream file(path);
    std::string word;
    while (file >> word) {
        uint64_t value = 0;
        if (word == key && file >> value) return value;
    }
    return 0;
}

}  // namespace

Result<uint64_t> choose_ring_bytes(const std::optional<BufferRequest>& request,
                                   const MachineLoad& load,
                                   bool records_all_switches) {
    const uint64_t cpus = std::max<uint32_t>(load.cpu_count, 1);
    if (request) {
        const uint64_t each = request->per_cpu ? request->bytes : request->bytes / cpus;
        if (each > kRingBytesLimit) {
            return fail(
                ErrorCode::usage,
                fmt::format("a ring of {} bytes for each CPU; the kernel's limit is 2 GiB", each),
                "ask for less: 64M/cpu");
        }
        return std::max(std::bit_floor(each), load.page_bytes);
    }
    uint64_t each = kRingBytesMin;
    if (records_all_switches) {
        const uint64_t switches = load.switches_per_second / cpus;
        const uint64_t wanted = switches * kRecordsPerSwitch * kSwitchRecordBytes;
        each = std::clamp(std::bit_ceil(wanted), kRingBytesMin, kRingBytesMax);
    }
    const uint64_t budget = std::bit_floor(load.memory_available_bytes / 16 / cpus);
    return std::max(std::min(each, budget), load.page_bytes);
}

MachineLoad read_machine_load(bool measure_switches) {
    MachineLoad load;
    load.cpu_count = static_cast<uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF)));
    load.page_bytes = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    load.memory_available_bytes = read_proc_number("/proc/meminfo", "MemAvailable:") * 1024;
    if (!measure_switches) return load;
    const uint64_t before = read_proc_number("/proc/stat", "ctxt");
    const timespec pause{0, kMeasureNs};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, nullptr);
    const uint64_t after = read_proc_number("/proc/stat", "ctxt");
    load.switches_per_second = (after - before) * (1'000'000'000 / kMeasureNs);
    return load;
}

uint64_t default_history_bytes() {
    constexpr uint64_t kMax = uint64_t{1} << 30;
    return std::min(read_machine_load(false).memory_available_bytes / 16, kMax);
}

uint64_t default_history_bytes(const std::string& folder) {
    constexpr uint64_t kMax = uint64_t{16} << 30;
    std::error_code error;
    const auto space = std::filesystem::space(folder, error);
    return error ? kMax : std::min<uint64_t>(space.available / 4, kMax);
}

uint64_t enough_ring_bytes(uint64_t ring_bytes,
                           uint64_t lost,
                           uint64_t gaps,
                           uint64_t record_bytes) {
    if (lost == 0) return ring_bytes;
    const uint64_t mean_gap = lost / std::max<uint64_t>(gaps, 1) + 1;
    return std::bit_ceil(ring_bytes + 2 * mean_gap * record_bytes);
}

}  // namespace tracer
