// SPDX-License-Identifier: Apache-2.0
//
// What draining costs per record, apart from everything that a kernel and a traced program add:
// rings filled in advance, emptied by the recorder's own path (ring, merger, decoder, writer, file)
// and, in turn, by the least that any recorder does (each record's time and words, as many bytes as
// the recorder's event has, into a buffer that write(2) takes). Needs no rights.
#include "bench_support.h"
#include "capture/merger.h"
#include "decode/decoder.h"
#include "replay_ring.h"
#include "tracer/abi/event.h"
#include "tracer/write/formats.h"
#include "tracer/write/sinks.h"

#include <array>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer::bench {
namespace {

constexpr uint64_t kRingBytes = 4 << 20;
constexpr int kRefills = 20;
constexpr uint32_t kPid = 4000;
constexpr uint32_t kProbe = TR_PROBE_FIRST_USER;

double cpu_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

enum class Kind : uint8_t { hit, sched_switch };

struct Load {
    const char* name;
    Kind kind;
    size_t rings;
    size_t event_bytes;  // in the file
};

constexpr Load kLoads[] = {
    {"hits, one CPU", Kind::hit, 1, 32},
    {"hits, two CPUs in turn", Kind::hit, 2, 32},
    {"switches, one CPU", Kind::sched_switch, 1, 48},
    {"switches, two CPUs in turn", Kind::sched_switch, 2, 48},
};

// A hit with two integers, as the hit benchmark's.
struct Hit {
    tr_record_header header;
    std::array<uint64_t, 2> arguments;
};

RecordingDefinitions definitions() {
    using model::ValueType;
    RecordingDefinitions known;
    known.record_all = true;
    model::Point point;
    point.category = "bench";
    point.name = "site";
    point.arguments = {{"arg0", ValueType::s32}, {"arg1", ValueType::u32}};
    known.points = {point};
    known.probes = {{.probe_id = kProbe, .slots = {ValueType::s32, ValueType::u32}, .spec = {}}};
    return known;
}

// The rings of a load, and what makes the next record of each.
class Machine {
public:
    static Result<std::unique_ptr<Machine>> make(const Load& load) {
        auto machine = std::make_unique<Machine>(load);
        for (size_t i = 0; i < load.rings; ++i) {
            TR_ASSIGN(auto ring, ReplayRing::make(kRingBytes));
            machine->rings_.push_back(std::move(ring));
        }
        machine->seqs_.resize(load.rings);
        return machine;
    }
    explicit Machine(const Load& load) : load_(load) {}

    // Fills the rings, each CPU a record in turn; how many records that made.
    size_t fill() {
        size_t records = 0;
        for (bool has_room = true; has_room;) {
            for (size_t cpu = 0; cpu < rings_.size(); ++cpu) {
                has_room = put(cpu) && has_room;
                if (has_room) ++records;
            }
        }
        for (auto& ring : rings_) ring->publish();
        return records;
    }
    [[nodiscard]] std::span<const std::unique_ptr<ReplayRing>> rings() const { return rings_; }

private:
    bool put(size_t cpu) {
        const auto number = static_cast<uint32_t>(cpu);
        tr_record_header header{.kind = TR_KIND_hit,
                                .probe_id = kProbe,
                                .time_ns = now_ns_ + 700,
                                .tgid = kPid,
                                .tid = kPid + number,
                                .seq = seqs_[cpu],
                                .cpu = static_cast<uint16_t>(cpu)};
        bool is_put = false;
        switch (load_.kind) {
            case Kind::hit: {
                header.size = sizeof(Hit);
                const Hit hit{header, {seqs_[cpu], uint64_t{seqs_[cpu]} * 3}};
                is_put = rings_[cpu]->put(std::as_bytes(std::span(&hit, 1)));
                break;
            }
            case Kind::sched_switch: {
                // Two threads of the CPU take turns.
                const uint32_t out = kPid + 2 * number + seqs_[cpu] % 2;
                const uint32_t in = kPid + 2 * number + (seqs_[cpu] + 1) % 2;
                header.size = sizeof(tr_sched_switch);
                header.kind = TR_KIND_sched_switch;
                header.probe_id = TR_PROBE_sched_switch;
                header.tid = out;
                const tr_sched_switch record{.header = header,
                                             .next_tgid = kPid,
                                             .next_tid = in,
                                             .prev_state = 1,
                                             .prev_prio = 120,
                                             .next_prio = 120};
                is_put = rings_[cpu]->put(std::as_bytes(std::span(&record, 1)));
                break;
            }
        }
        if (!is_put) return false;
        ++seqs_[cpu];
        now_ns_ = header.time_ns;
        return true;
    }

    const Load& load_;
    std::vector<std::unique_ptr<ReplayRing>> rings_;
    std::vector<uint32_t> seqs_;
    uint64_t now_ns_ = 1'000'000'000;
};

struct Cost {
    double cpu_ns = 0;
    size_t records = 0;
    [[nodiscard]] double per_record() const { return cpu_ns / static_cast<double>(records); }
};

// Fills and drains in turn; the cost is that of everything but the filling, threads included.
template <typename Drain>
Cost measure(Machine& machine, Drain drain) {
    Cost cost;
    for (int i = 0; i < kRefills; ++i) {
        cost.records += machine.fill();
        const double before = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
        drain();
        cost.cpu_ns += cpu_ns(CLOCK_THREAD_CPUTIME_ID) - before;
    }
    return cost;
}

// Kept out of line: the name by which a profiler finds what is measured.
__attribute__((noinline)) void drain_records(Merger& merger, RecordHandler& handler) {
    merger.drain(UINT64_MAX, handler);
}

Result<Cost> run_recorder(const Load& load, const std::string& path) {
    TR_ASSIGN(const auto machine, Machine::make(load));
    TR_ASSIGN(const auto source, ReplaySource::open(machine->rings(), kRingBytes));
    const double all_before = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
    const double thread_before = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    TR_ASSIGN(const auto sink, open_file_sink(path, {}));
    const auto writer = find_format_by_name("fxt")->make_writer(*sink);
    TR_TRY(writer->open());
    const auto decoder = Decoder::make(definitions(), *writer);
    Merger merger(*source);
    Cost cost = measure(*machine, [&] { drain_records(merger, *decoder); });
    TR_TRY(writer->close());
    TR_TRY(sink->close());
    // What other threads used is the file sink's writing.
    cost.cpu_ns += cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - all_before -
                   (cpu_ns(CLOCK_THREAD_CPUTIME_ID) - thread_before);
    if (writer->counters().events != cost.records) {
        return fail(ErrorCode::internal, fmt::format("{} records became {} events", cost.records,
                                                     writer->counters().events));
    }
    return cost;
}

Result<Cost> run_floor(const Load& load, const std::string& path) {
    TR_ASSIGN(const auto machine, Machine::make(load));
    const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!file.valid()) return fail_errno(ErrorCode::io, errno, path);
    std::vector<std::byte> buffer(1 << 20);
    size_t used = 0;
    bool is_written = true;
    const auto write_out = [&] {
        is_written = write(file.get(), buffer.data(), used) == static_cast<ssize_t>(used);
        used = 0;
    };
    Cost cost = measure(*machine, [&] {
        for (const auto& ring : machine->rings()) {
            ring->drain_bare([&](const std::byte* record) {
                if (used + load.event_bytes > buffer.size()) write_out();
                // Time and ids, then the body's 16 bytes; a longer event has the rest of the
                // header too.
                std::memcpy(buffer.data() + used, record + 8, 16);
                std::memcpy(buffer.data() + used + 16, record + 32, 16);
                if (load.event_bytes > 32) std::memcpy(buffer.data() + used + 32, record, 16);
                used += load.event_bytes;
            });
        }
    });
    write_out();
    if (!is_written) return fail_errno(ErrorCode::io, errno, path);
    return cost;
}

}  // namespace

void run_drain_bench(int rounds) {
    for (const Load& load : kLoads) {
        Samples samples;
        std::vector<double> ratios;
        for (int round = 0; round < rounds; ++round) {
            const ScratchFolder folder;
            const auto floor = run_floor(load, folder.path("floor"));
            const auto recorder = run_recorder(load, folder.path("recorder.fxt"));
            if (!floor || !recorder) {
                fmt::print("{}: {}\n", load.name, (!floor ? floor : recorder).error().what);
                return;
            }
            samples.add("bare drain to a file", floor->per_record());
            samples.add("recorder", recorder->per_record());
            ratios.push_back(recorder->per_record() / floor->per_record());
        }
        samples.print(fmt::format("{}, CPU per record", load.name), "ns");
        fmt::print("  recorder / bare drain {:>46.2f}\n", median(std::move(ratios)));
    }
}

}  // namespace tracer::bench
