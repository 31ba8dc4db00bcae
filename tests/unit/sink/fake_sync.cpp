// SPDX-License-Identifier: Apache-2.0
//
// Stands before the C library's functions in this program, because a disk that fails or takes long
// cannot be had for a test.
#include "unit/sink/fake_sync.h"

#include <cerrno>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace tracer::test {
namespace {

std::atomic<FakeSync*> current{nullptr};

}  // namespace

FakeSync::FakeSync() {
    current = this;
}

FakeSync::~FakeSync() {
    current = nullptr;
}

}  // namespace tracer::test

extern "C" int fdatasync(int fd) {
    if (tracer::test::FakeSync* const fake = tracer::test::current) {
        while (fake->is_slow) std::this_thread::yield();
        fake->file_count += 1;
        if (fake->fails_with != 0) {
            errno = fake->fails_with;
            return -1;
        }
    }
    return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

extern "C" int fsync(int fd) {
    if (tracer::test::FakeSync* const fake = tracer::test::current) fake->folder_count += 1;
    return static_cast<int>(::syscall(SYS_fsync, fd));
}
