// SPDX-License-Identifier: Apache-2.0
#include "tracer/write/socket_sink.h"

#include "unit/session/wait_until.h"
#include "unit/sink/sink_test_support.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <netinet/in.h>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::kBufferBytes;
using test::kRecordBytes;
using test::put;
using test::put_record;
using test::read_records;
using test::RecordKind;
using test::wait_until;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr SocketSinkOptions kSmall{.queue_bytes = 2 * kBufferBytes, .buffer_bytes = kBufferBytes};

// Reads to the end of the stream. With a deadline, so that a test of a sink that never ends fails.
std::string read_all(int fd) {
    std::string text;
    std::array<char, 16384> bytes{};
    while (true) {
        pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
        if (::poll(&ready, 1, 20'000) <= 0) {
            ADD_FAILURE() << "nothing came for 20 s";
            return text;
        }
        const ssize_t count = ::read(fd, bytes.data(), bytes.size());
        if (count <= 0) return text;
        text.append(bytes.data(), static_cast<size_t>(count));
    }
}

// Both ends of a connection; the sink takes the first. The kernel holds next to nothing, so that
// what is not read stays in the sink's queue.
struct Ends {
    Ends() {
        std::array<int, 2> both{};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both.data()), 0);
        ours.reset(both[0]);
        readers.reset(both[1]);
        const int least = 1;
        EXPECT_EQ(::setsockopt(ours.get(), SOL_SOCKET, SO_SNDBUF, &least, sizeof least), 0);
    }
    [[nodiscard]] std::unique_ptr<ByteSink> sink(const SocketSinkOptions& options) {
        return std::move(*make_socket_sink(std::move(ours), "the viewer", options));
    }
    UniqueFd ours;
    UniqueFd readers;
};

class SocketSinkTest : public test::FolderTest {
protected:
    // "@" stands for the zero of an abstract name.
    static UniqueFd listen_unix(const std::string& name, int type = SOCK_STREAM) {
        UniqueFd fd(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        name.copy(address.sun_path, sizeof address.sun_path - 1);
        size_t length = sizeof address;
        if (name.front() == '@') {
            address.sun_path[0] = '\0';
            length = offsetof(sockaddr_un, sun_path) + name.size();
        }
        EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address),
                         static_cast<socklen_t>(length)),
                  0);
        if (type == SOCK_STREAM) {
            EXPECT_EQ(::listen(fd.get(), 0), 0);
        }
        return fd;
    }

    // On a port that the system chose.
    static UniqueFd listen_tcp(uint16_t& port) {
        UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
        EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
        EXPECT_EQ(::listen(fd.get(), 0), 0);
        port = ntohs(address.sin_port);
        return fd;
    }
    static UniqueFd accept(const UniqueFd& listener) {
        return UniqueFd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    }

    // Everything that is put arrives, once and in order.
    static void expect_delivery(ByteSink& sink, const UniqueFd& reader) {
        std::string received;
        std::thread drain([&] { received = read_all(reader.get()); });
        constexpr uint64_t kRecords = 20'000;
        for (uint64_t i = 0; i < kRecords; ++i) {
            EXPECT_TRUE(wait_until([&] { return put_record(sink, RecordKind::event, i); }));
        }
        EXPECT_TRUE(sink.close().has_value());
        drain.join();
        EXPECT_EQ(received.size(), sink.bytes_committed());
        const auto records = read_records(received);
        ASSERT_EQ(records.size(), kRecords);
        for (uint64_t i = 0; i < kRecords; ++i) ASSERT_EQ(records[i].number, i);
    }
};

TEST_F(SocketSinkTest, DeliversToAUnixSocketByPath) {
    const auto listener = listen_unix(path("viewer.sock"));
    auto sink = connect_unix_sink(path("viewer.sock"), kSmall);
    ASSERT_TRUE(sink.has_value()) << sink.error().what;
    expect_delivery(**sink, accept(listener));
}

TEST_F(SocketSinkTest, DeliversToAnAbstractUnixSocket) {
    const std::string name = "@tracer-test-" + std::to_string(::getpid());
    const auto listener = listen_unix(name);
    auto sink = connect_unix_sink(name, kSmall);
    ASSERT_TRUE(sink.has_value()) << sink.error().what;
    expect_delivery(**sink, accept(listener));
}

TEST_F(SocketSinkTest, DeliversToATcpSocketByAddress) {
    uint16_t port = 0;
    const auto listener = listen_tcp(port);
    auto sink = connect_tcp_sink("127.0.0.1:" + std::to_string(port), kSmall);
    ASSERT_TRUE(sink.has_value()) << sink.error().what;
    expect_delivery(**sink, accept(listener));
}

TEST_F(SocketSinkTest, TriesEachAddressOfAName) {
    uint16_t port = 0;
    const auto listener = listen_tcp(port);  // IPv4 alone: of ::1 and 127.0.0.1, the second
    auto sink = connect_tcp_sink("localhost:" + std::to_string(port), kSmall);
    ASSERT_TRUE(sink.has_value()) << sink.error().what;
    expect_delivery(**sink, accept(listener));
}

TEST_F(SocketSinkTest, FlushSendsAPartialBuffer) {
    Ends ends;
    const auto sink = ends.sink(kSmall);
    ASSERT_TRUE(put(*sink, 'a'));
    std::array<char, 2 * kRecordBytes> bytes{};
    EXPECT_EQ(::recv(ends.readers.get(), bytes.data(), bytes.size(), MSG_DONTWAIT), -1);
    sink->flush();
    EXPECT_EQ(::recv(ends.readers.get(), bytes.data(), kRecordBytes, MSG_WAITALL),
              static_cast<ssize_t>(kRecordBytes));
    EXPECT_TRUE(sink->close().has_value());
}

TEST_F(SocketSinkTest, ASlowReaderMeansNoRoomAndNeverWaiting) {
    Ends ends;
    const auto sink = ends.sink(kSmall);
    uint64_t taken = 0;
    uint64_t refused = 0;
    for (int i = 0; i < 10'000; ++i) (put(*sink, 'a') ? taken : refused) += 1;
    EXPECT_GT(refused, 0U) << "far more than the queue and the socket hold";
    EXPECT_GE(taken * kRecordBytes, kSmall.queue_bytes);
    EXPECT_TRUE(sink->health().has_value()) << "slow is not broken";
    std::string received;
    std::thread drain([&] { received = read_all(ends.readers.get()); });
    EXPECT_TRUE(wait_until([&] { return put(*sink, 'b'); })) << "room again once it is read";
    EXPECT_TRUE(sink->close().has_value());
    drain.join();
    EXPECT_EQ(received.size(), (taken + 1) * kRecordBytes) << "what was taken arrived";
}

TEST_F(SocketSinkTest, AReaderThatWentAwayIsAnErrorNotASignal) {
    struct sigaction action {};
    ASSERT_EQ(::sigaction(SIGPIPE, nullptr, &action), 0);
    ASSERT_EQ(action.sa_handler, SIG_DFL) << "a SIGPIPE would end this program";
    Ends ends;
    const auto sink = ends.sink(kSmall);
    ends.readers.reset();
    ASSERT_TRUE(put(*sink, 'a'));
    sink->flush();
    ASSERT_TRUE(wait_until([&] { return !sink->health().has_value(); }));
    EXPECT_FALSE(put(*sink, 'b'));
    const Status status = sink->close();
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().sys_errno, EPIPE);
    EXPECT_THAT(status.error().what, HasSubstr("send to the viewer"));
    EXPECT_THAT(status.error().hint, HasSubstr("the reader went away"));
}

TEST_F(SocketSinkTest, AReaderThatGoesAwayInTheMiddleEndsTheWait) {
    Ends ends;
    const auto sink = ends.sink(kSmall);
    while (put(*sink, 'a')) continue;
    ends.readers.reset();
    EXPECT_TRUE(wait_until([&] { return !sink->health().has_value(); }));
    EXPECT_FALSE(sink->close().has_value());
}

TEST_F(SocketSinkTest, ATcpReaderThatResetsIsAnError) {
    uint16_t port = 0;
    const auto listener = listen_tcp(port);
    auto sink = connect_tcp_sink("127.0.0.1:" + std::to_string(port), kSmall);
    ASSERT_TRUE(sink.has_value());
    UniqueFd reader = accept(listener);
    const linger reset{.l_onoff = 1, .l_linger = 0};
    ASSERT_EQ(::setsockopt(reader.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
    reader.reset();
    ASSERT_TRUE(wait_until([&] {
        static_cast<void>(put(**sink, 'a'));
        (*sink)->flush();
        return !(*sink)->health().has_value();
    }));
    EXPECT_THAT((*sink)->close().error().hint, HasSubstr("the reader went away"));
}

TEST_F(SocketSinkTest, CloseWaitsForAReaderThatIsOnlySlow) {
    Ends ends;
    SocketSinkOptions options = kSmall;
    options.close_timeout_ms = 20'000;
    const auto sink = ends.sink(options);
    size_t taken = 0;
    while (put(*sink, 'a')) ++taken;
    std::string received;
    std::thread drain([&] { received = read_all(ends.readers.get()); });
    EXPECT_TRUE(sink->close().has_value());
    drain.join();
    EXPECT_EQ(received.size(), taken * kRecordBytes);
}

TEST_F(SocketSinkTest, CloseGivesUpInTimeAndSaysHowMuchWasNotDelivered) {
    Ends ends;
    SocketSinkOptions options = kSmall;
    options.close_timeout_ms = 50;
    const auto sink = ends.sink(options);
    while (put(*sink, 'a')) continue;
    const auto before = Clock::now();
    const Status status = sink->close();
    const auto taken = Clock::now() - before;
    EXPECT_GE(taken, milliseconds(50));
    EXPECT_LT(taken, milliseconds(10'000));
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::io);
    const size_t delivered = read_all(ends.readers.get()).size();
    EXPECT_THAT(status.error().what,
                HasSubstr(std::to_string(sink->bytes_committed() - delivered) +
                          " bytes were not delivered to the viewer within 50 ms"));
}

TEST_F(SocketSinkTest, WithoutACloseTheEndIsBoundedToo) {
    Ends ends;
    SocketSinkOptions options = kSmall;
    options.close_timeout_ms = 0;
    auto sink = ends.sink(options);
    while (put(*sink, 'a')) continue;
    sink.reset();
    EXPECT_GT(read_all(ends.readers.get()).size(), 0U);
}

TEST_F(SocketSinkTest, WhatTheReaderSaidDoesNotCostItTheEnd) {
    uint16_t port = 0;
    const auto listener = listen_tcp(port);
    auto sink = connect_tcp_sink("127.0.0.1:" + std::to_string(port), kSmall);
    ASSERT_TRUE(sink.has_value());
    const UniqueFd reader = accept(listener);
    ASSERT_EQ(::send(reader.get(), "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL), 18);
    ASSERT_TRUE(put(**sink, 'a', kBufferBytes));
    ASSERT_TRUE((*sink)->close().has_value());
    EXPECT_EQ(read_all(reader.get()).size(), kBufferBytes);
}

TEST_F(SocketSinkTest, SaysThatNobodyListens) {
    const auto missing = connect_unix_sink(path("missing.sock"));
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().sys_errno, ENOENT);
    EXPECT_THAT(missing.error().what, HasSubstr(path("missing.sock")));
    EXPECT_THAT(missing.error().hint, HasSubstr("start the reader first"));

    listen_unix(path("left.sock"));  // closed at once; its name stays
    EXPECT_EQ(connect_unix_sink(path("left.sock")).error().sys_errno, ECONNREFUSED);

    uint16_t port = 0;
    listen_tcp(port);
    const auto refused = connect_tcp_sink("127.0.0.1:" + std::to_string(port));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().sys_errno, ECONNREFUSED);
    EXPECT_THAT(refused.error().hint, HasSubstr("start the reader first"));
}

TEST_F(SocketSinkTest, SaysThatASocketIsOfAnotherKind) {
    const auto datagrams = listen_unix(path("log.sock"), SOCK_DGRAM);
    const auto refused = connect_unix_sink(path("log.sock"));
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().sys_errno, EPROTOTYPE);
    EXPECT_THAT(refused.error().hint, HasSubstr("SOCK_STREAM"));
}

TEST_F(SocketSinkTest, GivesUpConnectingToAUnixListenerThatNeverAccepts) {
    const auto listener = listen_unix(path("busy.sock"));
    SocketSinkOptions options;
    options.connect_timeout_ms = 50;
    std::vector<std::unique_ptr<ByteSink>> waiting;
    const auto before = Clock::now();
    Result<std::unique_ptr<ByteSink>> sink;
    // The kernel lets a few into the queue.
    while (waiting.size() < 100 && (sink = connect_unix_sink(path("busy.sock"), options))) {
        waiting.push_back(std::move(*sink));
    }
    EXPECT_GE(Clock::now() - before, milliseconds(50));
    ASSERT_FALSE(sink.has_value());
    EXPECT_EQ(sink.error().sys_errno, EAGAIN);
    EXPECT_THAT(sink.error().hint, HasSubstr("does not answer"));
}

TEST_F(SocketSinkTest, GivesUpConnectingToATcpListenerThatNeverAccepts) {
    uint16_t port = 0;
    const auto listener = listen_tcp(port);
    SocketSinkOptions options;
    options.connect_timeout_ms = 50;
    std::vector<std::unique_ptr<ByteSink>> waiting;
    Result<std::unique_ptr<ByteSink>> sink;
    while (waiting.size() < 100 &&
           (sink = connect_tcp_sink("127.0.0.1:" + std::to_string(port), options))) {
        waiting.push_back(std::move(*sink));
    }
    ASSERT_FALSE(sink.has_value());
    EXPECT_EQ(sink.error().sys_errno, ETIMEDOUT);
}

TEST_F(SocketSinkTest, RefusesNamesThatCannotBe) {
    for (const char* const name :
         {"", "localhost", "localhost:", "localhost:0", "localhost:65536", "localhost:12x",
          "localhost:-1", ":4000", "::1:4000", "[::1:4000", "[]:4000", "a:b:4000"}) {
        const auto sink = connect_tcp_sink(name);
        ASSERT_FALSE(sink.has_value()) << name;
        EXPECT_EQ(sink.error().code, ErrorCode::usage) << name << ": " << sink.error().what;
    }
    EXPECT_EQ(connect_unix_sink("").error().code, ErrorCode::usage);
    EXPECT_EQ(connect_unix_sink("@").error().code, ErrorCode::usage);
    EXPECT_EQ(connect_unix_sink("/" + std::string(107, 'x')).error().code, ErrorCode::limit);
    EXPECT_EQ(connect_unix_sink("/" + std::string(106, 'x')).error().sys_errno, ENOENT);
}

}  // namespace
}  // namespace tracer
