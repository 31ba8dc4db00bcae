// SPDX-License-Identifier: Apache-2.0
//
// The thread that writes snapshots. It may wait for the disk, since nobody waits for it before the
// recording's end. A file that fails stays as far as it got, in whole records.
#include "session/snapshot_files.h"

#include "session/clock.h"
#include "session/output_file.h"
#include "session/patient_sink.h"
#include "sink/compressed_copy.h"

#include <ctime>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace tracer {
namespace {

constexpr int kNice = 10;

// From the clock of events to that of the wall, as both are now.
time_t wall_time_of(uint64_t boottime) {
    constexpr uint64_t kSecondNs = 1'000'000'000;
    const uint64_t now_ns = boottime_ns();
    const uint64_t ago_ns = now_ns > boottime ? now_ns - boottime : 0;
    return time(nullptr) - static_cast<time_t>(ago_ns / kSecondNs);
}

}  // namespace

SnapshotFiles::SnapshotFiles(SnapshotFilesOptions options) : options_(std::move(options)) {}

SnapshotFiles::Taken SnapshotFiles::write(HistoryView view,
                                          uint64_t from_ns,
                                          uint64_t trigger_ns,
                                          std::string reason) {
    if (options_.files_max != 0 && taken_ >= options_.files_max) return Taken::no_more_files;
    if (options_.bytes_max != 0 && bytes() >= options_.bytes_max) return Taken::no_more_files;
    {
        const std::scoped_lock lock(mutex_);
        if (jobs_.size() >= kWaitingMax) return Taken::is_busy;
        jobs_.push_back({.view = std::move(view),
                         .from_ns = from_ns,
                         .file = {.reason = std::move(reason), .trigger_ns = trigger_ns}});
    }
    taken_ += 1;
    changed_.notify_all();
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
    return Taken::yes;
}

Status SnapshotFiles::finish() {
    {
        const std::scoped_lock lock(mutex_);
        is_finishing_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    const std::scoped_lock lock(mutex_);
    if (error_) return tl::unexpected(*error_);
    return {};
}

std::vector<SnapshotFile> SnapshotFiles::files() const {
    const std::scoped_lock lock(mutex_);
    return files_;
}

void SnapshotFiles::run() {
    pthread_setname_np(pthread_self(), "tracer-snapshot");
    // Of this thread alone; without it the disk's share is all that is asked for.
    setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice);
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return is_finishing_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        Job job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        SnapshotFile file = std::move(job.file);
        const Status written = write_file(job, file);
        if (!written) file.error = written.error().what;
        if (written && options_.compression == ChunkCompression::zstd) compress(file);
        bytes_.fetch_add(file.bytes, std::memory_order_relaxed);
        job = {};
        lock.lock();
        if (!written && !error_) error_ = written.error();
        files_.push_back(std::move(file));
    }
}

PlainChunks SnapshotFiles::left_plain() const {
    const std::scoped_lock lock(mutex_);
    return left_plain_;
}

void SnapshotFiles::compress(SnapshotFile& file) {
    const auto compressed = [&]() -> Status {
        TR_ASSIGN(
            CompressedCopy copy,
            CompressedCopy::make(file.path, {.owner = owner_behind_sudo()}, [] { return false; }));
        TR_TRY(copy.publish());
        file.path = copy.path();
        file.bytes = copy.bytes();
        return {};
    }();
    if (compressed) return;
    const std::scoped_lock lock(mutex_);
    left_plain_.count += 1;
    if (left_plain_.reason.empty()) left_plain_.reason = compressed.error().what;
}

std::string SnapshotFiles::next_path(uint64_t trigger_ns) {
    const std::string& path = options_.path;
    const std::string_view suffix = options_.format->suffix;
    const bool has_suffix = path.ends_with(suffix);
    const std::string stem = has_suffix ? path.substr(0, path.size() - suffix.size()) : path;
    tm utc{};
    const time_t wall = wall_time_of(trigger_ns);
    gmtime_r(&wall, &utc);
    size_t number = 1;
    {
        const std::scoped_lock lock(mutex_);
        number += files_.size();
    }
    std::string name;
    // Bounded by the files of an earlier recording of the same name.
    do {
        name = fmt::format("{}-{:04}-{:%Y%m%dT%H%M%SZ}{}", stem, number++, utc,
                           has_suffix ? suffix : std::string_view());
    } while (access(name.c_str(), F_OK) == 0 || access((name + kZstdSuffix).c_str(), F_OK) == 0);
    return name;
}

Status SnapshotFiles::write_file(const Job& job, SnapshotFile& file) {
    file.path = next_path(file.trigger_ns);
    TR_ASSIGN(auto opened, open_output_sink(file.path, false));
    PatientSink sink(std::move(opened));
    auto writer = options_.format->make_writer(sink);
    writer->describe(options_.recording);
    TR_TRY(writer->open());
    file.events = job.view.write_to(*writer, job.from_ns);
    const HistoryExtent extent = job.view.extent();
    file.first_ns = std::max(extent.first_ns, job.from_ns);
    file.last_ns = extent.last_ns;
    Status ended = writer->close();
    const Status closed = sink.close();
    file.bytes = sink.bytes_written();
    // The sink's error is the reason of the writer's.
    TR_TRY(closed);
    return ended;
}

}  // namespace tracer
