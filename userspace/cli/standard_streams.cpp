// SPDX-License-Identifier: Apache-2.0
//
// Standard streams that a caller closed (`tracer ... 2>&-`, a service manager). Called by main()
// before anything else, because the lowest free number goes to whoever opens first.
#include "cli/standard_streams.h"

#include <array>
#include <fcntl.h>
#include <unistd.h>

namespace tracer {

void occupy_closed_standard_streams() {
    // In order, so that open() gives the very number.
    for (const int fd : std::array{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(fd, F_GETFD) >= 0) continue;
        const int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        // Without a /dev nothing can be put there.
        static_cast<void>(open("/dev/null", mode));
    }
}

}  // namespace tracer
