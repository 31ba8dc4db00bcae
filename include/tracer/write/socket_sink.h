// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/unique_fd.h"
#include "tracer/write/byte_sink.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace tracer {

struct SocketSinkOptions {
    // What may wait for the reader, in memory of ours (the kernel's socket buffer comes on top);
    // beyond it there is no room. Rounded to whole buffers of buffer_bytes, two at least. A
    // buffer is sent when it is full and at flush(): a live reader wants the owner to flush now
    // and then.
    size_t queue_bytes = 16 << 20;
    size_t buffer_bytes = 64 << 10;  // at least ByteSink::kReserveBytesMax
    // For the connection alone, over all addresses of a name. Looking a name up has the system's
    // own limits (resolv.conf) and comes before.
    uint32_t connect_timeout_ms = 5000;
    // How long close() waits for the reader to take what is queued.
    uint32_t close_timeout_ms = 2000;
    bool real_time = false;  // as in FileSinkOptions
};

// Streams to a connected socket from a thread of its own, so that the caller never waits. Threads
// as for every ByteSink: one producer, health() and bytes_committed() from any thread.
//
// * A reader that is slow: reserve() finds no room and the writer counts the loss; nothing else.
// * A reader that is gone (EPIPE, ECONNRESET): an error with a hint, which ends the sink; never a
//   SIGPIPE. It shows at the first bytes sent after it left. A TCP peer whose machine or network
//   vanished without a word shows when the kernel gives up (tcp_retries2, a quarter of an hour);
//   until then it is a slow one.
// * close() waits at most close_timeout_ms; what is then not yet with the kernel is an error that
//   says how many bytes were not delivered, and the reader's last record may be cut. What the
//   kernel has taken counts as delivered: it goes on sending after close.
// * What the reader sends is not read, but for what is thrown away at the end: a close with
//   unread bytes would make the kernel reset the connection.

// Connects to a stream socket in the file system, or, for "@NAME", to one in Linux's abstract
// name space. Waits if the listener's queue is full, within connect_timeout_ms. A link is followed:
// the right to connect is the socket's. A path over 107 bytes is an error of code `limit`.
[[nodiscard]] Result<std::unique_ptr<ByteSink>> connect_unix_sink(
    const std::string& path, const SocketSinkOptions& options = {});

// Connects to "HOST:PORT": a name, an IPv4 address, or an IPv6 address in brackets, "[::1]:4000";
// the port is a number from 1 to 65535. Each address of a name is tried in turn. The error is that
// of the last.
[[nodiscard]] Result<std::unique_ptr<ByteSink>> connect_tcp_sink(
    const std::string& host_and_port, const SocketSinkOptions& options = {});

// Over a connected stream socket of the caller's (accepted, or of a socketpair), which it takes
// over; blocking or not does not matter and is not changed. `label` names it in errors.
[[nodiscard]] Result<std::unique_ptr<ByteSink>> make_socket_sink(
    UniqueFd socket, const std::string& label, const SocketSinkOptions& options = {});

}  // namespace tracer
