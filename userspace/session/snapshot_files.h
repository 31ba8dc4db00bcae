// SPDX-License-Identifier: Apache-2.0
//
// Histories made files, by a thread of its own at a low priority: as long as a disk may take.
#pragma once

#include "tracer/base/result.h"
#include "tracer/model/definition.h"
#include "tracer/write/event_history.h"
#include "tracer/write/formats.h"
#include "tracer/write/rotating_sink.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tracer {

// A file that was written, or was to be.
struct SnapshotFile {
    std::string path;
    std::string reason;
    uint64_t trigger_ns = 0;  // CLOCK_BOOTTIME
    uint64_t first_ns = 0;    // of its events
    uint64_t last_ns = 0;
    uint64_t events = 0;
    uint64_t bytes = 0;
    std::string error;  // empty: it is whole
};

// Triggers that no file came of.
struct SnapshotSkips {
    uint64_t cooldown = 0;
    uint64_t limit = 0;  // of files or bytes
    uint64_t busy = 0;   // the files before are still being written
    [[nodiscard]] uint64_t total() const { return cooldown + limit + busy; }
};

struct SnapshotFilesOptions {
    std::string path;  // DIR/NAME.SUFFIX: files are DIR/NAME-0001-20260131T101500Z.SUFFIX
    const Format* format = nullptr;
    model::Recording recording;
    uint64_t files_max = 0;  // 0: no limit
    uint64_t bytes_max = 0;  // of all files; none is begun beyond it
    ChunkCompression compression = ChunkCompression::none;
};

class SnapshotFiles {
public:
    explicit SnapshotFiles(SnapshotFilesOptions options);
    ~SnapshotFiles() { finish(); }
    SnapshotFiles(const SnapshotFiles&) = delete;
    SnapshotFiles& operator=(const SnapshotFiles&) = delete;

    enum class Taken : uint8_t {
        yes,
        no_more_files,  // of files_max or bytes_max
        is_busy,        // kWaitingMax others wait: their views hold memory
    };
    // One thread. `from_ns` as HistoryView has it.
    [[nodiscard]] Taken write(HistoryView view,
                              uint64_t from_ns,
                              uint64_t trigger_ns,
                              std::string reason);

    // Waits until all are written. The first error there was.
    Status finish();

    // Any thread.
    [[nodiscard]] std::vector<SnapshotFile> files() const;
    [[nodiscard]] PlainChunks left_plain() const;
    [[nodiscard]] uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

    static constexpr size_t kWaitingMax = 2;

private:
    struct Job {
        HistoryView view;
        uint64_t from_ns = 0;
        SnapshotFile file;
    };

    void run();
    [[nodiscard]] std::string next_path(uint64_t trigger_ns);
    [[nodiscard]] Status write_file(const Job& job, SnapshotFile& file);
    void compress(SnapshotFile& file);

    const SnapshotFilesOptions options_;
    uint64_t taken_ = 0;
    std::thread thread_;  // from the first job on
    std::atomic<uint64_t> bytes_ = 0;

    mutable std::mutex mutex_;  // guards what follows
    std::condition_variable changed_;
    std::deque<Job> jobs_;
    bool is_finishing_ = false;
    std::vector<SnapshotFile> files_;
    std::optional<Error> error_;
    PlainChunks left_plain_;
};

}  // namespace tracer
