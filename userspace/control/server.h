// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "control/place.h"
#include "control/verbs.h"
#include "session/live.h"
#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>

namespace tracer {

// Answers the clients of a recording's control socket, on the thread that the recording lives on
// and without ever waiting for one of them. A client has one request under way at a time, and its
// next is not read before the answer is taken, so what is held for it is one line and one answer,
// which may be a chunk of a recording in memory.
class ControlServer {
public:
    // Only `owner` and root are answered. Borrows the recording.
    [[nodiscard]] static Result<std::unique_ptr<ControlServer>> make(LiveRecording& live,
                                                                     uid_t owner);
    ~ControlServer();
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;

    // Takes clients from there too.
    [[nodiscard]] Status listen(ControlSocket socket);
    // One that is connected.
    void adopt(UniqueFd client);

    // Readable when handle() has something to do; a turn does at most one request of each client.
    [[nodiscard]] int fd() const { return epoll_.get(); }
    void handle();

    [[nodiscard]] size_t client_count() const { return clients_.size(); }

    static constexpr size_t kClientsMax = 8;

private:
    struct Client {
        [[nodiscard]] bool has_output() const { return !out.empty() || payload != nullptr; }
        UniqueFd fd;
        std::string in;                              // read and not yet done
        std::string out;                             // the answer, what of it is not sent yet
        std::shared_ptr<const MemoryChunk> payload;  // and what follows it
        size_t payload_sent = 0;
        bool is_waiting = false;  // for the recording's answer
        bool is_last = false;     // nothing more is read; goes when the answer is sent
    };

    ControlServer(LiveRecording& live, uid_t owner, UniqueFd epoll)
        : live_(live), owner_(owner), epoll_(std::move(epoll)) {}

    void accept_clients();
    void handle_client(uint64_t id, uint32_t events);
    void read_from(Client& client);
    // The next request, if there is a whole one and nothing before it is under way.
    void do_next(uint64_t id);
    void answer(uint64_t id, Answer said);
    // False: the client is gone.
    [[nodiscard]] static bool send_to(Client& client);
    // What is waited for, of each: asks epoll again.
    void settle(uint64_t id);
    void drop(uint64_t id);
    void watch_listener(bool wanted);

    LiveRecording& live_;
    const uid_t owner_;
    UniqueFd epoll_;
    std::optional<ControlSocket> listener_;
    bool is_listening_ = false;
    std::map<uint64_t, Client> clients_;
    uint64_t next_id_ = 1;  // 0 is the listener
};

}  // namespace tracer
