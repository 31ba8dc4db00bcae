// SPDX-License-Identifier: Apache-2.0
//
// Closing of owned descriptors. Linux frees the descriptor even when close(2) reports EINTR, so it
// is never tried twice.
#include "tracer/base/unique_fd.h"

#include <unistd.h>

namespace tracer {

void UniqueFd::reset(int fd) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = fd;
}

}  // namespace tracer
