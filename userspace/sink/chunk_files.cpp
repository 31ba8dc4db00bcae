// SPDX-License-Identifier: Apache-2.0
//
// The files of a rotating sink: their names, one after the other, and which of them are kept. All
// but the first are made in the thread of io_queue.cpp, so that the producer never waits for a
// folder. Relies on make_output_file for files that are new and ours, and on file_destination.cpp
// for what is in them.
#include "sink/chunk_files.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

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

ChunkFiles::ChunkFiles(std::string stem, std::string suffix, const RotatingSinkOptions& options)
    : stem_(std::move(stem)), suffix_(std::move(suffix)), options_(options) {
    if (options_.compression == ChunkCompression::none) return;
    const SyncOptions& sync = options_.file.sync;
    compressor_ = std::make_unique<ChunkCompressor>(
        CompressOptions{.owner = options_.file.owner,
                        .sync = sync.at_close || sync.every_bytes != 0 || sync.every_ms != 0},
        ChunkCompressor::Owner{
            .is_wanted = [this](const std::string& path) { return is_there(path); },
            .publish = [this](CompressedCopy& copy) { return take_compressed(copy); }});
}

ChunkFiles::~ChunkFiles() {
    // In a child of fork() its thread, on which even its destructor would wait, is not there.
    if (compressor_ && compressor_->is_copy()) static_cast<void>(compressor_.release());
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
        compress_closed();
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
    Status status = close_current();
    if (!compressor_) return status;
    // Also of files before an error: they are whole.
    if (const Status room = make_room(0, 0); status && !room) status = room;
    compress_closed();
    compressor_->finish();
    return status;
}

Status ChunkFiles::close_current() {
    if (!current_) return {};  // the next one could not be made
    Status status = current_->finish();
    const std::lock_guard lock(mutex_);
    chunks_.back().bytes = current_->bytes();
    closed_bytes_ += current_->bytes();
    closed_path_ = chunks_.back().path;
    current_.reset();
    return status;
}

// Once there is room for what comes beside it.
void ChunkFiles::compress_closed() {
    if (!compressor_ || !closed_path_) return;
    compressor_->add(*std::exchange(closed_path_, std::nullopt));
}

bool ChunkFiles::is_there(const std::string& path) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(chunks_, path, &Chunk::path) != chunks_.end();
}

// On the compressor's thread.
Status ChunkFiles::take_compressed(CompressedCopy& copy) {
    const std::lock_guard lock(mutex_);
    const auto chunk = std::ranges::find(chunks_, copy.plain_path(), &Chunk::path);
    if (chunk == chunks_.end()) return {};
    struct stat plain {};
    struct stat made {};
    // Whoever put another file in its place meanwhile keeps it.
    if (::lstat(chunk->path.c_str(), &plain) != 0 || plain.st_dev != chunk->device ||
        plain.st_ino != chunk->inode || ::fstat(copy.fd(), &made) != 0) {
        return {};
    }
    TR_TRY(copy.publish());
    closed_bytes_ -= chunk->bytes - copy.bytes();
    *chunk = {copy.path(), made.st_dev, made.st_ino, copy.bytes(), false};
    return {};
}

// Of the closed ones, and what the largest of them takes a second time while it is compressed.
uint64_t ChunkFiles::kept_bytes() const {
    const std::lock_guard lock(mutex_);
    uint64_t plain_bytes_max = 0;
    if (compressor_) {
        for (const Chunk& chunk : chunks_) {
            if (chunk.is_plain) plain_bytes_max = std::max(plain_bytes_max, chunk.bytes);
        }
    }
    return closed_bytes_ + plain_bytes_max;
}

// Deletes old chunks until `file_count` more files and `bytes` beside the closed ones may be there.
Status ChunkFiles::make_room(uint64_t file_count, uint64_t bytes) {
    const size_t current_count = current_ ? 1 : 0;
    // Only this thread makes the list longer or shorter, so it may look at that without the lock.
    while (chunks_.size() > current_count) {
        const bool are_many =
            options_.keep_files != 0 && chunks_.size() + file_count > options_.keep_files;
        const bool are_long =
            options_.keep_bytes != 0 && kept_bytes() + bytes > options_.keep_bytes;
        if (!are_many && !are_long) break;
        TR_TRY(delete_oldest());
    }
    return {};
}

Status ChunkFiles::delete_oldest() {
    const std::lock_guard lock(mutex_);
    const Chunk& oldest = chunks_.front();
    struct stat found {};
    const bool is_ours = ::lstat(oldest.path.c_str(), &found) == 0 &&
                         found.st_dev == oldest.device && found.st_ino == oldest.inode;
    if (is_ours && ::unlink(oldest.path.c_str()) != 0 && errno != ENOENT) {
        return fail_errno(ErrorCode::io, errno, fmt::format("delete the old chunk {}", oldest.path),
                          "more than what is to be kept would pile up");
    }
    closed_bytes_ -= oldest.bytes;
    chunks_.pop_front();
    deleted_count_ += is_ours ? 1 : 0;
    return {};
}

PlainChunks ChunkFiles::left_plain() const {
    if (!compressor_) return {};
    return {.count = compressor_->failures(), .reason = compressor_->first_failure()};
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
