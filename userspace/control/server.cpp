// SPDX-License-Identifier: Apache-2.0
//
// Lines in, answers out, over one epoll descriptor that the recording's own poll looks at. What a
// client sends is bounded (kRequestBytesMax) and may be anything; what is no request gets an error,
// and what is no line the end of its connection. Made by the command line for each recording.
#include "control/server.h"

#include "control/words.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace tracer {
namespace {

constexpr uint64_t kListener = 0;
// The recording's main loop has more to do than to send a chunk in one piece.
constexpr size_t kTurnBytesMax = 1 << 20;

// Not to be waited for: who is refused may be slow or gone.
void refuse(int fd, const Error& error) {
    const std::string line = error_answer(error) + "\n";
    static_cast<void>(send(fd, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

std::optional<uid_t> user_of(int fd) {
    ucred peer{};
    socklen_t size = sizeof(peer);
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
    return peer.uid;
}

}  // namespace

Result<std::unique_ptr<ControlServer>> ControlServer::make(LiveRecording& live, uid_t owner) {
    UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
    if (!epoll.valid()) return fail_errno(ErrorCode::io, errno, "make an epoll descriptor");
    auto server = std::unique_ptr<ControlServer>(new ControlServer(live, owner, std::move(epoll)));
    live.add_readable(server->fd(), [raw = server.get()] { raw->handle(); });
    return server;
}

ControlServer::~ControlServer() {
    live_.forget_readable(fd());
}

Status ControlServer::listen(ControlSocket socket) {
    listener_.emplace(std::move(socket));
    watch_listener(true);
    if (!is_listening_) return fail_errno(ErrorCode::io, errno, "watch the control socket");
    return {};
}

void ControlServer::watch_listener(bool wanted) {
    if (!listener_ || wanted == is_listening_) return;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = kListener;
    const int operation = wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL;
    if (epoll_ctl(epoll_.get(), operation, listener_->fd(), &event) == 0) is_listening_ = wanted;
}

void ControlServer::handle() {
    std::array<epoll_event, kClientsMax + 1> events{};
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
    for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<size_t>(i)];
        if (event.data.u64 == kListener) {
            accept_clients();
        } else {
            handle_client(event.data.u64, event.events);
        }
    }
}

void ControlServer::accept_clients() {
    constexpr int kTurnMax = 16;
    for (int i = 0; i < kTurnMax; ++i) {
        UniqueFd client(accept4(listener_->fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (client.valid()) {
            adopt(std::move(client));
            continue;
        }
        // Without descriptors the one that waits cannot be taken, and epoll would say so without
        // end: again when a client has gone.
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) watch_listener(false);
        return;
    }
}

void ControlServer::adopt(UniqueFd client) {
    const auto user = user_of(client.get());
    if (!user || (*user != owner_ && *user != 0)) {
        refuse(client.get(), {.code = ErrorCode::permission,
                              .what = "this recording is another user's",
                              .hint = "its owner and root may steer it"});
        return;
    }
    if (clients_.size() >= kClientsMax) {
        refuse(client.get(), {.code = ErrorCode::limit,
                              .what = fmt::format("{} clients are connected already", kClientsMax),
                              .hint = "try again later"});
        return;
    }
    const uint64_t id = next_id_++;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = id;
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, client.get(), &event) != 0) return;
    clients_[id].fd = std::move(client);
}

void ControlServer::handle_client(uint64_t id, uint32_t events) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) return;
    Client& client = found->second;
    // Who sent a request and left still gets it done; without one nobody is there any more.
    const bool has_input = (events & EPOLLIN) != 0;
    const bool is_gone = (events & (EPOLLHUP | EPOLLERR)) != 0;
    if ((is_gone && !has_input) || !send_to(client)) {
        drop(id);
        return;
    }
    if (has_input) read_from(client);
    do_next(id);
    settle(id);
}

void ControlServer::read_from(Client& client) {
    std::array<char, kRequestBytesMax> buffer{};
    const ssize_t count = recv(client.fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count > 0) {
        client.in.append(buffer.data(), static_cast<size_t>(count));
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        client.is_last = true;
    }
}

void ControlServer::do_next(uint64_t id) {
    Client& client = clients_.at(id);
    if (client.is_waiting || client.has_output()) return;
    const size_t end = client.in.find('\n');
    const size_t length = end == std::string::npos ? client.in.size() : end;
    if (length >= kRequestBytesMax || (end == std::string::npos && client.is_last && length > 0)) {
        client.is_last = true;
        client.in.clear();
        answer(id, error_answer({.code = ErrorCode::usage,
                                 .what = length >= kRequestBytesMax ? "the line is too long"
                                                                    : "the line has no end",
                                 .hint = fmt::format("a request is a line of at most {} bytes",
                                                     kRequestBytesMax)}));
        return;
    }
    if (end == std::string::npos) return;
    const std::string line = client.in.substr(0, end);
    client.in.erase(0, end + 1);
    client.is_waiting = true;
    run_request(live_, line, [this, id](Answer done) { answer(id, std::move(done)); });
}

void ControlServer::answer(uint64_t id, Answer said) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) return;  // it went meanwhile
    Client& client = found->second;
    client.is_waiting = false;
    client.out = std::move(said.line) + "\n";
    client.payload = std::move(said.payload);
    client.payload_sent = 0;
    settle(id);
}

bool ControlServer::send_to(Client& client) {
    size_t left = kTurnBytesMax;
    while (client.has_output() && left > 0) {
        const bool is_line = !client.out.empty();
        const std::span<const std::byte> next =
            is_line ? std::as_bytes(std::span(client.out))
                    : client.payload->bytes().subspan(client.payload_sent);
        const ssize_t count = send(client.fd.get(), next.data(), std::min(next.size(), left),
                                   MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno == EAGAIN;
        left -= static_cast<size_t>(count);
        if (is_line) client.out.erase(0, static_cast<size_t>(count));
        if (!is_line) client.payload_sent += static_cast<size_t>(count);
        if (client.payload != nullptr && client.payload_sent == client.payload->size) {
            client.payload = nullptr;
        }
    }
    return true;
}

void ControlServer::settle(uint64_t id) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) return;
    Client& client = found->second;
    if (!send_to(client)) {
        drop(id);
        return;
    }
    const bool has_line = client.in.find('\n') != std::string::npos;
    if (client.is_last && !client.is_waiting && !client.has_output() && !has_line) {
        drop(id);
        return;
    }
    epoll_event event{};
    event.data.u64 = id;
    if (client.is_waiting) {
        event.events = 0;  // that it hung up is told anyway
    } else if (client.has_output() || has_line) {
        // With a line left a socket that can be written to is the sign to go on, after others.
        event.events = EPOLLOUT;
    } else {
        event.events = EPOLLIN;
    }
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, client.fd.get(), &event) != 0) drop(id);
}

void ControlServer::drop(uint64_t id) {
    clients_.erase(id);
    watch_listener(true);
}

}  // namespace tracer
