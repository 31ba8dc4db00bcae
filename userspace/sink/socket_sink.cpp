// SPDX-License-Identifier: Apache-2.0
//
// Sinks over sockets: a queue (io_producer.h) and a socket behind it (socket_destination.cpp). Used
// for live readers.
#include "tracer/write/socket_sink.h"

#include "sink/queue_sink.h"
#include "sink/socket_address.h"
#include "sink/socket_destination.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <sys/eventfd.h>
#include <utility>

#include <fmt/format.h>

namespace tracer {

Result<std::unique_ptr<ByteSink>> make_socket_sink(UniqueFd socket,
                                                   const std::string& label,
                                                   const SocketSinkOptions& options) {
    UniqueFd wake(::eventfd(0, EFD_CLOEXEC));
    if (!wake.valid()) {
        return fail_errno(ErrorCode::io, errno, fmt::format("prepare to send to {}", label));
    }
    const size_t buffer_bytes = std::max(options.buffer_bytes, ByteSink::kReserveBytesMax);
    auto sink = std::make_unique<QueueSink>(
        std::make_unique<SocketDestination>(std::move(socket), std::move(wake), label,
                                            std::chrono::milliseconds(options.close_timeout_ms)),
        IoQueueOptions{.buffer_bytes = buffer_bytes,
                       .buffer_count = std::max<size_t>(options.queue_bytes / buffer_bytes, 2),
                       .real_time = options.real_time});
    TR_TRY(sink->health());
    return std::unique_ptr<ByteSink>(std::move(sink));
}

Result<std::unique_ptr<ByteSink>> connect_unix_sink(const std::string& path,
                                                    const SocketSinkOptions& options) {
    TR_ASSIGN(UniqueFd socket,
              connect_unix(path, std::chrono::milliseconds(options.connect_timeout_ms)));
    return make_socket_sink(std::move(socket), path, options);
}

Result<std::unique_ptr<ByteSink>> connect_tcp_sink(const std::string& host_and_port,
                                                   const SocketSinkOptions& options) {
    TR_ASSIGN(UniqueFd socket,
              connect_tcp(host_and_port, std::chrono::milliseconds(options.connect_timeout_ms)));
    return make_socket_sink(std::move(socket), host_and_port, options);
}

}  // namespace tracer
