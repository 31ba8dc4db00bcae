// SPDX-License-Identifier: Apache-2.0
//
// The files of a rotating sink: their names, one after the other, and which of them are kept. All
// but the first are made in the thread of io_queue.cpp, so that the producer never waits for a
// folder. Relies on make_output_file for files that are new and ours, and on file_destination.cpp
// for what is in them.
#include "sink/chunk_files.h"

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {
namespace {

// Each taken name costs a system call; a folder with more than this in the way is no accident.
constexpr int kTakenNamesMax = 1000;
constexpr int64_t kNsPerSecond = 1'000'000'000;

std::string utc_text(int64_t time_ns) {
    const time_t seconds = time_ns / kNsPerSecond;
    tm utc{};
    ::gmtime_r(&seconds, &utc);
    return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                       utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

int64_t wall_clock_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

}  // namespace

Result<std::unique_ptr<ChunkFiles>> ChunkFiles::open(const std::string& path,
                                                     const RotatingSinkOptions& options) {
    const std::string name = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
    if (name.empty()) {
        return fail(ErrorCode::usage, fmt::format("'{}' names no file", path),
                    "give the files a name: FOLDER/NAME.SUFFIX");
    }
    const std::string folder = folder_of(path);
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(folder.c_str(), nullptr),
                                                           &std::free);
    if (!real) {
        return fail_errno(ErrorCode::io, errno, fmt::format("find the folder {}", folder),
                          "make the folder first");
    }
    // A leading dot hides a file, it begins no suffix.
    const size_t dot = name.rfind('.');
    const size_t stem_bytes = dot == std::string::npos || dot == 0 ? name.size() : dot;
    auto files = std::unique_ptr<ChunkFiles>(
        new ChunkFiles(fmt::format("{}/{}", real.get(), name.substr(0, stem_bytes)),
                       name.substr(stem_bytes), options));
    TR_TRY(files->begin(wall_clock_ns()));
    return files;
}

Result<OutputFile> ChunkFiles::make_file(int64_t start_ns) {
    for (int taken = 0;; ++taken) {
        number_ += 1;
        auto file = make_output_file(
            fmt::format("{}-{:08}-{}{}", stem_, number_, utc_text(start_ns), suffix_),
            options_.file.owner);
        if (file || file.error().sys_errno != EEXIST || taken == kTakenNamesMax) return file;
    }
}

Status ChunkFiles::begin(int64_t start_ns) {
    TR_TRY(make_room(1, 0));
    TR_ASSIGN(OutputFile file, make_file(start_ns));
    struct stat made {};
    if (::fstat(file.fd.get(), &made) != 0) {
        return fail_errno(ErrorCode::io, errno, fmt::format("look at {}", file.path));
    }
    {
        const std::lock_guard lock(mutex_);
        chunks_.push_back({file.path, made.st_dev, made.st_ino, 0});
    }
    std::string label = file.path;
    const uint64_t expected = options_.limits.chunk_bytes;
    current_ =
        std::make_unique<FileDestination>(std::move(file), std::move(label), options_.file.sync,
                                          expected != 0 ? expected : UINT64_MAX);
    return {};
}

Status ChunkFiles::write(const IoBuffer& buffer) {
    if (buffer.chunk_start_ns) {
        TR_TRY(close_current());
        TR_TRY(begin(*buffer.chunk_start_ns));
    }
    TR_TRY(make_room(0, current_->bytes() + buffer.used));
    Status written = current_->write(buffer);
    if (!written) failed_write_bytes_ = current_->bytes_of_failed_write();
    return written;
}

std::optional<IoDestination::Clock::time_point> ChunkFiles::service_due() const {
    return current_ ? current_->service_due() : std::nullopt;
}

Status ChunkFiles::service() {
    return current_->service();
}

Status ChunkFiles::finish() {
    return close_current();
}

Status ChunkFiles::close_current() {
    if (!current_) return {};  // the next one could not be made
    Status status = current_->finish();
    closed_bytes_ += current_->bytes();
    {
        const std::lock_guard lock(mutex_);
        chunks_.back().bytes = current_->bytes();
    }
    current_.reset();
    return status;
}

// Deletes old chunks until `file_count` more files and `bytes` beside the closed ones may be there.
Status ChunkFiles::make_room(uint64_t file_count, uint64_t bytes) {
    const size_t current_count = current_ ? 1 : 0;
    // Only this thread changes the list, so it may look without the lock.
    while (chunks_.size() > current_count) {
        const bool are_many =
            options_.keep_files != 0 && chunks_.size() + file_count > options_.keep_files;
        const bool are_long =
            options_.keep_bytes != 0 && closed_bytes_ + bytes > options_.keep_bytes;
        if (!are_many && !are_long) break;
        TR_TRY(delete_oldest());
    }
    return {};
}

Status ChunkFiles::delete_oldest() {
    const Chunk& oldest = chunks_.front();
    struct stat found {};
    const bool is_ours = ::lstat(oldest.path.c_str(), &found) == 0 &&
                         found.st_dev == oldest.device && found.st_ino == oldest.inode;
    if (is_ours && ::unlink(oldest.path.c_str()) != 0 && errno != ENOENT) {
        return fail_errno(ErrorCode::io, errno, fmt::format("delete the old chunk {}", oldest.path),
                          "more than what is to be kept would pile up");
    }
    closed_bytes_ -= oldest.bytes;
    const std::lock_guard lock(mutex_);
    chunks_.pop_front();
    deleted_count_ += is_ours ? 1 : 0;
    return {};
}

std::vector<std::string> ChunkFiles::paths() const {
    std::vector<std::string> paths;
    const std::lock_guard lock(mutex_);
    paths.reserve(chunks_.size());
    for (const Chunk& chunk : chunks_) paths.push_back(chunk.path);
    return paths;
}

uint64_t ChunkFiles::deleted_count() const {
    const std::lock_guard lock(mutex_);
    return deleted_count_;
}

}  // namespace tracer
