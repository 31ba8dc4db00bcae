// SPDX-License-Identifier: Apache-2.0
//
// Where a cursor's bytes come from. The kernel copies page cache to us in order, and each aligned
// word whole; on processors that reorder loads a fence keeps one call's loads before the next
// one's. Over memory every word is loaded with acquire order, which pairs with the writer's release
// stores and is free on x86-64. Used by cursor.cpp.
#include "ring/ring_source.h"

#include <atomic>
#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

namespace tracer::ring {

uint64_t FileSource::size() const {
    struct stat status {};
    if (fstat(fd_.get(), &status) != 0 || status.st_size < 0) return 0;
    return static_cast<uint64_t>(status.st_size);
}

bool FileSource::read(uint64_t offset, std::span<uint64_t> out) const {
    std::span<std::byte> rest = std::as_writable_bytes(out);
    while (!rest.empty()) {
        if (offset > INT64_MAX) return false;
        const ssize_t count =
            pread(fd_.get(), rest.data(), rest.size(), static_cast<off_t>(offset));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        rest = rest.subspan(static_cast<size_t>(count));
        offset += static_cast<uint64_t>(count);
    }
#if !defined(__x86_64__) && !defined(__SANITIZE_THREAD__)  // which does not know fences
    std::atomic_thread_fence(std::memory_order_acquire);
#endif
    return true;
}

bool MemorySource::read(uint64_t offset, std::span<uint64_t> out) const {
    if (offset % 8 != 0 || offset > memory_.size() ||
        out.size() > (memory_.size() - offset) / sizeof(uint64_t)) {
        return false;
    }
    // Aligned, as Cursor::over() has checked; the words are atomic objects of the writer.
    const std::byte* const first = memory_.data() + offset;
    for (size_t i = 0; i < out.size(); ++i) {
        const void* const word = first + i * sizeof(uint64_t);
        out[i] = __atomic_load_n(static_cast<const uint64_t*>(word), __ATOMIC_ACQUIRE);
    }
    return true;
}

}  // namespace tracer::ring
