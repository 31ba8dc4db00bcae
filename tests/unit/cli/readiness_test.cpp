// SPDX-License-Identifier: Apache-2.0
#include "cli/readiness.h"

#include "support/fixtures/temp_folder.h"
#include "tracer/base/unique_fd.h"

#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tracer {
namespace {

std::string read_some(int fd) {
    std::array<char, 256> text{};
    const ssize_t count = read(fd, text.data(), text.size());
    return {text.data(), count > 0 ? static_cast<size_t>(count) : 0};
}

TEST(Readiness, IsANewlineAndTheEndOfTheDescriptor) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), 0), 0);
    const UniqueFd reader(ends[0]);
    ASSERT_TRUE(check_readiness({.fd = ends[1]}));
    // A command that is started meanwhile does not get it.
    EXPECT_EQ(fcntl(ends[1], F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(tell_readiness({.fd = ends[1]}), "");
    EXPECT_EQ(read_some(reader.get()), "\n");
    EXPECT_EQ(read_some(reader.get()), "");
}

TEST(Readiness, RefusesDescriptorsThatCannotBeWritten) {
    const UniqueFd only_read(open("/dev/null", O_RDONLY | O_CLOEXEC));
    for (const int fd : {only_read.get(), 999'999, -1, STDOUT_FILENO}) {
        const Status checked = check_readiness({.fd = fd});
        ASSERT_FALSE(checked) << fd;
        EXPECT_EQ(checked.error().code, ErrorCode::usage);
    }
    EXPECT_TRUE(check_readiness({}));
}

TEST(Readiness, OfAReaderThatIsGoneIsAWarning) {
    signal(SIGPIPE, SIG_IGN);
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    close(ends[0]);
    EXPECT_EQ(tell_readiness({.fd = ends[1]}),
              "--ready-fd " + std::to_string(ends[1]) + ": Broken pipe");
    EXPECT_NE(tell_readiness({.notify_socket = "/nonexistent/socket"}), "");
    EXPECT_NE(tell_readiness({.notify_socket = std::string(200, 'x')}), "");
}

class NotifySocket : public testing::TestWithParam<bool> {};

TEST_P(NotifySocket, GetsWhatServiceManagersRead) {
    const auto folder = test::TempFolder::make();
    ASSERT_TRUE(folder);
    const bool is_abstract = GetParam();
    const std::string name =
        is_abstract ? "@tracer-test-" + std::to_string(getpid()) : folder->file("notify");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (is_abstract) address.sun_path[0] = '\0';
    const UniqueFd manager(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() +
                                              (is_abstract ? 0 : 1));
    ASSERT_EQ(bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), bytes), 0);
    EXPECT_EQ(tell_readiness({.notify_socket = name}), "");
    EXPECT_EQ(read_some(manager.get()), "READY=1\nMAINPID=" + std::to_string(getpid()) + "\n");
}

INSTANTIATE_TEST_SUITE_P(Kinds, NotifySocket, testing::Bool());

}  // namespace
}  // namespace tracer
