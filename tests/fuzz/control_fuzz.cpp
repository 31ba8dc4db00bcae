// SPDX-License-Identifier: Apache-2.0
//
// Any bytes from a client of a recording's control socket, in pieces of any size: every line gets
// one answer that is JSON, nothing is held without bound, and words survive being joined. A first
// byte of each piece says how long it is.
#include "control/server.h"
#include "control/verbs.h"
#include "control/words.h"
#include "unit/control/fake_live.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

namespace {

void check_words(const std::string& line) {
    const auto words = tracer::split_words(line);
    if (!words) {
        if (words.error().code != tracer::ErrorCode::usage) std::abort();
        return;
    }
    const std::string joined = tracer::join_words(*words);
    // Escapes may make the line longer than a request may be.
    if (joined.size() >= tracer::kRequestBytesMax) return;
    const auto again = tracer::split_words(joined);
    if (!again || *again != *words) std::abort();
}

std::string take_answers(int client) {
    std::string text;
    std::array<char, 4096> buffer{};
    while (true) {
        const ssize_t count = recv(client, buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (count <= 0) return text;
        text.append(buffer.data(), static_cast<size_t>(count));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string bytes(data, data + size);
    check_words(bytes);
    tracer::test::FakeLive live;
    const auto server = tracer::ControlServer::make(live, geteuid());
    std::array<int, 2> ends{};
    if (!server || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()) != 0) return 0;
    (*server)->adopt(tracer::UniqueFd(ends[0]));
    const tracer::UniqueFd client(ends[1]);
    std::string answers;
    for (size_t at = 0; at < bytes.size();) {
        const size_t length = std::min<size_t>(1 + data[at] * 16, bytes.size() - at - 1);
        static_cast<void>(send(client.get(), bytes.data() + at + 1, length, MSG_NOSIGNAL));
        at += 1 + std::max<size_t>(length, 1);
        (*server)->handle();
        answers += take_answers(client.get());
    }
    shutdown(client.get(), SHUT_WR);
    for (int turn = 0; turn < 10000 && (*server)->client_count() > 0; ++turn) {
        (*server)->handle();
        answers += take_answers(client.get());
    }
    if ((*server)->client_count() != 0) std::abort();
    answers += take_answers(client.get());
    for (size_t at = 0; at < answers.size();) {
        const size_t end = answers.find('\n', at);
        if (end == std::string::npos) std::abort();
        const auto answer = nlohmann::json::parse(answers.substr(at, end - at), nullptr, false);
        if (!answer.is_object() || !answer.contains("ok")) std::abort();
        at = end + 1;
    }
    return 0;
}
