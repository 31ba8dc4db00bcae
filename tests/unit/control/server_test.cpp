// SPDX-License-Identifier: Apache-2.0
#include "control/server.h"

#include "control/connection.h"
#include "control/verbs.h"
#include "control/words.h"
#include "support/fixtures/temp_folder.h"
#include "unit/control/fake_live.h"

#include <array>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tracer {
namespace {

using nlohmann::json;
using Calls = std::vector<std::string>;

class ControlServerTest : public testing::Test {
protected:
    ControlServerTest() : server_(std::move(*ControlServer::make(live_, geteuid()))) {}

    // The client's end.
    UniqueFd connect() {
        std::array<int, 2> ends{};
        EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()),
                  0);
        server_->adopt(UniqueFd(ends[0]));
        return UniqueFd(ends[1]);
    }
    void serve() {
        pollfd ready{server_->fd(), POLLIN, 0};
        for (int turn = 0; turn < 10000 && poll(&ready, 1, 0) > 0; ++turn) server_->handle();
        EXPECT_EQ(poll(&ready, 1, 0), 0) << "the server is never done";
    }
    static void say(const UniqueFd& client, std::string_view text) {
        ASSERT_EQ(send(client.get(), text.data(), text.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(text.size()));
    }
    static std::string hear(const UniqueFd& client) {
        std::string text;
        std::array<char, 4096> buffer{};
        while (true) {
            const ssize_t count = recv(client.get(), buffer.data(), buffer.size(), 0);
            if (count <= 0) return text;
            text.append(buffer.data(), static_cast<size_t>(count));
        }
    }
    json ask(const UniqueFd& client, std::string_view text) {
        say(client, text);
        serve();
        return json::parse(hear(client), nullptr, false);
    }
    static bool is_closed(const UniqueFd& client) {
        char byte = 0;
        return recv(client.get(), &byte, 1, 0) == 0;
    }

    test::FakeLive live_;
    std::unique_ptr<ControlServer> server_;
};

TEST_F(ControlServerTest, AnswersALineWithALineOfJson) {
    const UniqueFd client = connect();
    const json status = ask(client, "status\n");
    EXPECT_EQ(status.value("ok", false), true);
    EXPECT_EQ(status.value("events", 0), 42);
    EXPECT_EQ(ask(client, "flush\n").value("ok", false), true);
    EXPECT_EQ(ask(client, "mark \"a b\" c\n").value("ok", false), true);
    EXPECT_EQ(ask(client, "snapshot\n").value("ok", false), true);
    EXPECT_EQ(ask(client, "snapshot it was slow\n").value("ok", false), true);
    EXPECT_EQ(ask(client, "pause\n").value("changed", false), true);
    const auto again = ask(client, "pause\n");
    EXPECT_EQ(again.value("ok", false), true);
    EXPECT_EQ(again.value("changed", true), false);
    EXPECT_EQ(again.value("text", ""), "is paused already, for 1.5 s");
    EXPECT_EQ(ask(client, "resume\n").value("text", ""), "resumed after 1.5 s");
    EXPECT_EQ(ask(client, "resume\n").value("text", ""), "is not paused");
    EXPECT_EQ(ask(client, "sink \"/tmp/x y\" no-header keep-old\n").value("output", ""),
              "/tmp/x y");
    EXPECT_EQ(ask(client, "stop\n").value("ok", false), true);
    EXPECT_EQ(live_.calls, (Calls{"status", "flush", "mark a b c", "snapshot ctl snapshot",
                                  "snapshot it was slow", "pause", "pause", "resume", "resume",
                                  "sink /tmp/x y keep goes on", "stop"}));
}

TEST_F(ControlServerTest, RefusesWhatIsNoCommandAndDoesNothing) {
    const UniqueFd client = connect();
    for (const std::string line :
         {"\n", "nonsense\n", "status now\n", "mark\n", "sink\n", "sink \"\"\n", "sink a b\n",
          "sink a header no-header\n", "sink a header header\n", "\x01\x02\xff\n", "mark \"a\n"}) {
        const json answer = ask(client, line);
        EXPECT_EQ(answer.value("ok", true), false) << line;
        EXPECT_FALSE(answer.value("error", "").empty()) << line;
    }
    EXPECT_EQ(live_.calls, Calls{});
    const json answer = ask(client, "sink restore\n");
    EXPECT_EQ(answer.value("hint", ""), "cure");
    EXPECT_EQ(answer.value("exit_status", 0), 4);
}

TEST_F(ControlServerTest, EndsWhatIsNoLine) {
    const UniqueFd huge = connect();
    say(huge, std::string(3 * kRequestBytesMax, 'x'));
    serve();
    EXPECT_THAT(hear(huge), testing::HasSubstr("too long"));
    EXPECT_TRUE(is_closed(huge));

    const UniqueFd cut = connect();
    say(cut, "stop");
    shutdown(cut.get(), SHUT_WR);
    serve();
    EXPECT_THAT(hear(cut), testing::HasSubstr("no end"));
    EXPECT_EQ(live_.calls, Calls{});
    EXPECT_EQ(server_->client_count(), 0u);
}

TEST_F(ControlServerTest, TakesALineInPieces) {
    const UniqueFd client = connect();
    for (const char c : std::string("flush")) {
        say(client, std::string(1, c));
        serve();
    }
    EXPECT_EQ(live_.calls, Calls{});
    EXPECT_EQ(ask(client, "\n").value("ok", false), true);
}

TEST_F(ControlServerTest, DoesOneRequestOfAClientATurn) {
    const UniqueFd client = connect();
    const UniqueFd other = connect();
    say(client, "flush\nflush\nflush\n");
    say(other, "stop\n");
    server_->handle();
    EXPECT_EQ(live_.calls, (Calls{"flush", "stop"}));
    serve();
    EXPECT_EQ(live_.calls, (Calls{"flush", "stop", "flush", "flush"}));
    const std::string answers = hear(client);
    EXPECT_EQ(std::ranges::count(answers, '\n'), 3);
}

TEST_F(ControlServerTest, AnswersLaterAndInOrder) {
    live_.is_slow = true;
    const UniqueFd client = connect();
    say(client, "sink a\nflush\n");
    serve();
    EXPECT_EQ(hear(client), "");
    ASSERT_EQ(live_.pending.size(), 1u);
    live_.pending[0](SinkChanged{.output = "a"});
    serve();
    EXPECT_EQ(live_.calls, (Calls{"sink a", "flush"}));
    const std::string answers = hear(client);
    EXPECT_LT(answers.find("\"output\""), answers.find('\n'));
    EXPECT_EQ(std::ranges::count(answers, '\n'), 2);
}

TEST_F(ControlServerTest, ForgetsAClientThatLeftBeforeItsAnswer) {
    live_.is_slow = true;
    UniqueFd client = connect();
    say(client, "sink a\n");
    serve();
    client.reset();
    serve();
    EXPECT_EQ(server_->client_count(), 0u);
    live_.pending.at(0)(SinkChanged{.output = "a"});
    serve();
}

TEST_F(ControlServerTest, DoesWhatAClientAskedForBeforeItLeft) {
    UniqueFd client = connect();
    say(client, "stop\n");
    client.reset();
    serve();
    EXPECT_EQ(live_.calls, Calls{"stop"});
    EXPECT_EQ(server_->client_count(), 0u);
}

TEST_F(ControlServerTest, HoldsNoMoreForAClientThatDoesNotRead) {
    const UniqueFd client = connect();
    size_t sent = 0;
    const std::string lines = [] {
        std::string text;
        for (int i = 0; i < 100; ++i) text += "status\n";
        return text;
    }();
    for (int i = 0; i < 1000; ++i) {
        const ssize_t count = send(client.get(), lines.data(), lines.size(), MSG_NOSIGNAL);
        if (count < 0) break;
        sent += static_cast<size_t>(count);
        serve();
    }
    // The socket's own buffers end it; the requests behind them were not even read.
    EXPECT_LT(sent, 100'000u * 7);
    EXPECT_LT(live_.calls.size() * 7, sent);
    const UniqueFd other = connect();
    EXPECT_EQ(ask(other, "flush\n").value("ok", false), true);
}

TEST_F(ControlServerTest, SendsAChunkBehindItsAnswer) {
    // Zeros and line ends: nothing of it is looked at. More than a socket holds.
    std::string chunk(3'000'000, '\n');
    for (size_t i = 0; i < chunk.size(); i += 3) chunk[i] = static_cast<char>(i);
    live_.chunks = {chunk, "second"};
    const UniqueFd client = connect();
    say(client, "chunks\nchunks now\nchunks\nflush\n");
    std::string heard;
    constexpr int kTurnsMax = 1000;
    for (int turn = 0; turn < kTurnsMax; ++turn) {
        serve();
        const std::string part = hear(client);
        // The next request waits until the chunk is taken.
        if (heard.empty()) {
            EXPECT_EQ(live_.calls, (Calls{"chunks"}));
        }
        if (part.empty()) break;
        heard += part;
    }
    std::vector<json> answers;
    std::vector<std::string> payloads;
    for (size_t at = 0; at < heard.size();) {
        const size_t end = heard.find('\n', at);
        ASSERT_NE(end, std::string::npos);
        answers.push_back(json::parse(heard.substr(at, end - at)));
        const auto bytes = answers.back().value("payload_bytes", size_t{0});
        payloads.push_back(heard.substr(end + 1, bytes));
        at = end + 1 + bytes;
    }
    ASSERT_EQ(answers.size(), 4u);
    EXPECT_EQ(answers[0].value("number", 0), 1);
    EXPECT_EQ(answers[0].value("waiting", 0), 1);
    EXPECT_TRUE(payloads[0] == chunk);
    EXPECT_EQ(answers[1].value("number", 0), 2);
    EXPECT_EQ(payloads[1], "second");
    EXPECT_EQ(answers[2].value("ok", false), true) << "none is whole";
    EXPECT_FALSE(answers[2].contains("number"));
    EXPECT_EQ(answers[3].value("ok", false), true);
    EXPECT_EQ(live_.calls, (Calls{"chunks", "chunks now", "chunks", "flush"}));
}

TEST_F(ControlServerTest, HoldsOneChunkForAClientThatLeaves) {
    live_.chunks = {std::string(3'000'000, 'x')};
    {
        const UniqueFd client = connect();
        say(client, "chunks\n");
        serve();
    }
    serve();
    EXPECT_EQ(server_->client_count(), 0u);
    const UniqueFd other = connect();
    EXPECT_EQ(ask(other, "chunks\n").value("payload_bytes", 1), 0) << "it is gone for good";
}

TEST_F(ControlServerTest, TakesAFewClientsAtOnce) {
    std::vector<UniqueFd> clients;
    for (size_t i = 0; i < ControlServer::kClientsMax; ++i) clients.push_back(connect());
    const UniqueFd extra = connect();
    EXPECT_THAT(hear(extra), testing::HasSubstr("connected already"));
    EXPECT_TRUE(is_closed(extra));
    clients.pop_back();
    serve();
    EXPECT_EQ(ask(connect(), "flush\n").value("ok", false), true);
}

// Over a socket in the file system, which this time everyone may reach.
TEST_F(ControlServerTest, AnswersItsOwnerAlone) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root, to become another user";
    auto temp = test::TempFolder::make();
    ASSERT_TRUE(temp);
    const std::string folder = temp->file("tracer");
    auto socket = ControlSocket::make(folder, 7);
    ASSERT_TRUE(socket);
    ASSERT_TRUE(server_->listen(std::move(*socket)));
    const auto opened = ControlConnection::open(folder, 7, std::chrono::seconds(2));
    ASSERT_TRUE(opened);
    serve();
    EXPECT_EQ(server_->client_count(), 1u);

    std::array<int, 2> report{};
    ASSERT_EQ(pipe(report.data()), 0);
    const pid_t child = fork();
    if (child == 0) {
        // The folder's mode first: another user does not even come to the socket.
        if (setresuid(65534, 65534, 65534) != 0) _exit(9);
        const UniqueFd own(::socket(AF_UNIX, SOCK_STREAM, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const std::string path = folder + "/7.sock";
        path.copy(address.sun_path, sizeof(address.sun_path) - 1);
        const auto* to = reinterpret_cast<const sockaddr*>(&address);
        const bool is_barred = ::connect(own.get(), to, sizeof(address)) != 0 && errno == EACCES;
        char go = is_barred ? 'b' : 'x';
        if (write(report[1], &go, 1) != 1) _exit(9);
        // Until the test has opened the way.
        for (int i = 0; i < 2000 && ::connect(own.get(), to, sizeof(address)) != 0; ++i) {
            usleep(1000);
        }
        static_cast<void>(send(own.get(), "stop\n", 5, MSG_NOSIGNAL));
        std::array<char, 512> answer{};
        const ssize_t count = recv(own.get(), answer.data(), answer.size(), 0);
        const std::string_view text(answer.data(), count > 0 ? static_cast<size_t>(count) : 0);
        _exit(text.find("another user") != std::string_view::npos ? 0 : 1);
    }
    char said = 0;
    ASSERT_EQ(read(report[0], &said, 1), 1);
    EXPECT_EQ(said, 'b');
    ASSERT_EQ(chmod(temp->file("").c_str(), 0755), 0);
    ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
    ASSERT_EQ(chmod((folder + "/7.sock").c_str(), 0666), 0);
    int status = -1;
    for (int i = 0; i < 2000 && waitpid(child, &status, WNOHANG) == 0; ++i) {
        pollfd ready{server_->fd(), POLLIN, 0};
        if (poll(&ready, 1, 10) > 0) server_->handle();
    }
    EXPECT_EQ(status, 0);
    EXPECT_EQ(server_->client_count(), 1u);
    EXPECT_EQ(live_.calls, Calls{});
    close(report[0]);
    close(report[1]);
}

TEST(ControlVerbs, AreATable) {
    for (const Verb& verb : verbs()) {
        std::vector<std::string> words{std::string(verb.name)};
        words.resize(1 + verb.words_min, "x");
        const auto found = find_verb(words);
        ASSERT_TRUE(found) << verb.name;
        EXPECT_EQ((*found)->name, verb.name);
        EXPECT_EQ(verb.arguments.empty(), verb.words_max == 0) << verb.name;
    }
}

}  // namespace
}  // namespace tracer
