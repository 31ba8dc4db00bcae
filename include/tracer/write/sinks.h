// SPDX-License-Identifier: Apache-2.0
//
// The plain sinks: a file, a descriptor, memory, nothing. Others are beside this header:
// rotating_sink.h, chunk_memory_sink.h, socket_sink.h, tee_sink.h.
//
// Sinks with a thread (file, descriptor, rotating, socket) and fork(): the sink stays the parent's.
// In the child its close() does nothing, its destructor closes the descriptors and waits for
// nobody, and no other function may be called; open a new sink there.
#pragma once

#include "tracer/base/unique_fd.h"
#include "tracer/write/byte_sink.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>

namespace tracer {

struct FileOwner {
    uid_t uid;
    gid_t gid;
};

// When what is written is forced to the disk (fdatasync; once a file its folder too, so that the
// name lasts). By default never: the kernel writes it within half a minute, and only a crash of
// the whole machine loses anything. The sink's thread does it and the caller never waits: while a
// slow disk syncs, buffers fill, and beyond them there is no room. Counted from what the thread
// has written, so a partial buffer begins to count at flush(). A destination that knows no
// syncing (a pipe, a terminal) is left alone; any other failure ends the sink like one of write.
struct SyncOptions {
    bool at_close = false;
    // After as many bytes, and as long after the first byte not yet synced; 0: not. Either of them
    // means at close too.
    uint64_t every_bytes = 0;
    uint64_t every_ms = 0;
};

struct FileSinkOptions {
    size_t buffer_bytes = 1 << 20;  // of one buffer
    size_t buffer_count = 64;       // filled or waiting at once; beyond: no room
    // Of them, made and touched at the start: a first fill then meets no page fault. Memory that
    // is used from the beginning.
    size_t buffers_ready = 0;
    std::optional<FileOwner> owner = std::nullopt;  // the file is given to this user
    // The writing thread asks for SCHED_RR priority 1: where every CPU is busy, an ordinary thread
    // of another session starves, and what it should have written finds no room. Its CPU time is
    // bounded by what is committed, at some 0.3 s a GB. Not granted: an ordinary thread.
    bool real_time = false;
    SyncOptions sync = {};
};

// Writes to a new file (0600; an existing regular file is replaced, not followed through a
// symbolic link owned by someone else) from a thread of its own, so that a slow disk never
// delays the caller until `buffer_count` buffers wait.
[[nodiscard]] Result<std::unique_ptr<ByteSink>> open_file_sink(const std::string& path,
                                                               const FileSinkOptions& options);

// The same over an open descriptor (a pipe, standard output), which it takes over.
[[nodiscard]] std::unique_ptr<ByteSink> make_fd_sink(UniqueFd fd, const FileSinkOptions& options);

// Keeps everything in memory, for tests and snapshots; refuses past bytes_max. Not thread safe.
class MemorySink : public ByteSink {
public:
    explicit MemorySink(size_t bytes_max = SIZE_MAX) : bytes_max_(bytes_max) {}
    [[nodiscard]] std::span<std::byte> reserve(size_t bytes) override;
    void commit(size_t bytes) override;
    void flush() override {}
    [[nodiscard]] Status close() override { return {}; }
    [[nodiscard]] Status health() const override { return {}; }
    [[nodiscard]] unsigned long long bytes_committed() const override { return size_; }
    // Good until the next reserve().
    [[nodiscard]] std::span<const std::byte> bytes() const { return {memory_.get(), size_}; }

private:
    [[nodiscard]] bool grow(size_t bytes);

    size_t bytes_max_;
    std::unique_ptr<std::byte[]> memory_;
    size_t size_ = 0;
    size_t capacity_ = 0;
};

// Takes everything and keeps nothing: the floor of benchmarks.
[[nodiscard]] std::unique_ptr<ByteSink> make_null_sink();

}  // namespace tracer
