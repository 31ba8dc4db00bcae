// SPDX-License-Identifier: Apache-2.0
//
// Standard streams as a careless caller leaves them.
#include "cli/print.h"
#include "cli/standard_streams.h"
#include "session/human.h"

#include <cstdio>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tracer {
namespace {

// What `body` returns in a process of its own, whose streams it may spoil.
int status_of(int (*body)()) {
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0) _exit(body());
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(StandardStreams, ClosedOnesAreNotGivenToTheNextFile) {
    EXPECT_EQ(status_of([] {
                  for (const int fd : {0, 1, 2}) close(fd);
                  occupy_closed_standard_streams();
                  const int next = open("/dev/null", O_RDWR);
                  if (next <= 2) return 1;
                  char byte = 0;
                  if (read(0, &byte, 1) >= 0) return 2;
                  if (write(1, "x", 1) >= 0 || write(2, "x", 1) >= 0) return 3;
                  return 0;
              }),
              0);
}

TEST(StandardStreams, OpenOnesAreLeftAlone) {
    EXPECT_EQ(status_of([] {
                  close(0);
                  occupy_closed_standard_streams();
                  return fcntl(1, F_GETFL) == O_RDONLY ? 1 : 0;
              }),
              0);
}

TEST(StandardStreams, AFullOneIsAnErrorAndNoCrash) {
    EXPECT_EQ(status_of([] {
                  const int full = open("/dev/full", O_WRONLY);
                  if (full < 0 || dup2(full, 1) != 1 || dup2(full, 2) != 2) return 1;
                  put_text(stderr, "for people");
                  put_text(stdout, "asked for");
                  const Status finished = finish_standard_output();
                  if (finished || exit_status(finished.error().code) != 5) return 2;
                  return 0;
              }),
              0);
}

}  // namespace
}  // namespace tracer
