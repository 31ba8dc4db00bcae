// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/drain_thread.h"
#include "session/end_watch.h"
#include "session/flight_output.h"
#include "session/late_queue.h"
#include "session/live.h"
#include "session/output.h"
#include "session/record_gate.h"
#include "session/side_thread.h"
#include "session/summary.h"
#include "tracer/base/result.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tracer {

// The point of marks; add both to the plan before a recording that is steered.
[[nodiscard]] model::Point mark_point(model::PointIndex index);
[[nodiscard]] ProbeDefinition mark_definition(model::PointIndex index);

// What a recording is called in answers.
struct LiveNames {
    std::string output;
    std::string format;
    std::string target;
};

struct SteeringParts {
    DrainThread& drain;
    Output& output;
    LateQueue& late;
    EndWatch& watch;
    LiveNames names;
    uint64_t armed_ns = 0;
    bool real_time = false;          // of sinks' threads
    FlightOutput* flight = nullptr;  // the output, if it is one
    KernelRecorder* recorder = nullptr;
    uint64_t ring_bytes = 0;
    RecordGate* gate = nullptr;  // null: it cannot be paused
    std::string waits_for = {};  // before it is opened for the first time
};

// Answers for a recording that runs, on the main thread. What must see the output runs on the drain
// thread between two turns (DrainThread::call); opening and closing sinks, which may last, on
// threads of their own.
class Steering : public LiveRecording {
public:
    [[nodiscard]] static Result<std::unique_ptr<Steering>> make(SteeringParts parts);
    ~Steering() override;
    Steering(const Steering&) = delete;
    Steering& operator=(const Steering&) = delete;

    LiveStatus status() override;
    void flush() override;
    void stop() override;
    Status mark(std::string_view text) override;
    Status snapshot(const std::string& reason) override;
    Result<BuffersChanged> change_buffers(const BuffersChange& change) override;
    Result<TakenChunk> take_chunk(bool end_current) override;
    Result<GateChange> pause() override;
    Result<GateChange> resume() override;
    void change_sink(const SinkChange& change, SinkChangeDone done) override;
    void restore_sink(const SinkChange& change, SinkChangeDone done) override;
    void add_readable(int fd, std::function<void()> handler) override;
    void forget_readable(int fd) override;

    // The sink in use has failed: back to the one kept last that can take more. False: there is
    // none, and the failure is the recording's.
    [[nodiscard]] bool fall_back();

    // Once the output has closed the sink in use: closes the others. Nothing is asked any more.
    void finish();

    [[nodiscard]] uint64_t marks() const { return marks_; }
    // Of each CPU, as it is now.
    [[nodiscard]] uint64_t ring_bytes() const { return parts_.ring_bytes; }
    // After finish(); these are of the other sinks alone. Empty if there was never one.
    [[nodiscard]] std::vector<Summary::Sink> sinks() const;
    [[nodiscard]] uint64_t bytes_missing() const;  // committed, but not at their destination
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

    static constexpr size_t kKeptMax = 8;
    // Being closed at once; each may hold buffers of 64 MiB. A change then waits for one of them.
    static constexpr size_t kClosingMax = 16;

private:
    // Each sink there was, in the order of its first use; the first is the recording's own.
    struct Place {
        std::string target;
        uint64_t committed = 0;  // when it was last left
        uint64_t missing = 0;
        std::string error;
    };
    struct Kept {
        std::unique_ptr<ByteSink> sink;
        size_t place = 0;
        bool is_ended = false;  // the format's end is in it
    };

    Steering(SteeringParts parts,
             std::unique_ptr<SideThread> opener,
             std::unique_ptr<SideThread> closer);

    [[nodiscard]] Result<GateChange> change_gate(bool opens);
    [[nodiscard]] Status check_change(const SinkChange& change) const;
    [[nodiscard]] bool is_in_use(const std::string& target) const;
    void take_opened(const SinkChange& change,
                     Result<std::unique_ptr<ByteSink>> opened,
                     const SinkChangeDone& done);
    // Writes to `sink` from here on, and puts the one before away.
    [[nodiscard]] Result<SinkChanged> exchange(std::unique_ptr<ByteSink> sink,
                                               size_t place,
                                               const SinkChange& change);
    // On the closing thread, or at the end on this one.
    void close_later(std::unique_ptr<ByteSink> sink, size_t place);
    void note_closed(size_t place, const ByteSink& sink, const Status& closed);

    SteeringParts parts_;
    std::unique_ptr<SideThread> opener_;
    std::unique_ptr<SideThread> closer_;
    std::vector<Place> places_;
    size_t current_ = 0;  // of places_
    std::vector<Kept> kept_;
    uint64_t changes_ = 0;
    bool is_changing_ = false;
    bool is_ending_ = false;
    uint64_t marks_ = 0;
    std::vector<std::string> warnings_;
    uint64_t asked_ns_ = 0;  // the last status, and what it said
    uint64_t asked_records_ = 0;
    uint64_t asked_bytes_ = 0;
};

}  // namespace tracer
