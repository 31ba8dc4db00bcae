// SPDX-License-Identifier: Apache-2.0
//
// Descriptors that outlive the reader of a file. Relies on the times of modification of the file
// system, which move with every write; those of a file that is replaced by renaming do not.
// Called by the compiler of probes and, before and after a recording, by the kernel recorder.
#include "probe/held_file.h"

#include <sys/stat.h>

#include <fmt/format.h>

namespace tracer {

std::shared_ptr<const HeldFile> HeldFile::hold(const FileBytes& bytes) {
    UniqueFd fd = bytes.duplicate();
    if (!fd.valid()) return nullptr;
    return std::shared_ptr<const HeldFile>(
        new HeldFile(std::move(fd), bytes.size(), bytes.modified_ns()));
}

std::string HeldFile::path() const {
    return fmt::format("/proc/self/fd/{}", fd_.get());
}

bool HeldFile::is_changed() const {
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0) return true;
    return static_cast<uint64_t>(status.st_size) != size_ ||
           status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec != modified_ns_;
}

}  // namespace tracer
