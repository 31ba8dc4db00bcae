// SPDX-License-Identifier: Apache-2.0
//
// The sink over one file or one open descriptor: a queue (io_producer.h) and a file behind it
// (file_destination.cpp). Used for -o and standard output.
#include "sink/file_destination.h"
#include "sink/queue_sink.h"
#include "tracer/write/sinks.h"

#include <utility>

namespace tracer {
namespace {

std::unique_ptr<ByteSink> make_sink(OutputFile file,
                                    std::string label,
                                    const FileSinkOptions& options) {
    return std::make_unique<QueueSink>(
        std::make_unique<FileDestination>(std::move(file), std::move(label), options.sync),
        IoQueueOptions{.buffer_bytes = options.buffer_bytes,
                       .buffer_count = options.buffer_count,
                       .buffers_ready = options.buffers_ready,
                       .real_time = options.real_time});
}

}  // namespace

Result<std::unique_ptr<ByteSink>> open_file_sink(const std::string& path,
                                                 const FileSinkOptions& options) {
    TR_ASSIGN(OutputFile file, open_output_file(path, options.owner));
    auto sink = make_sink(std::move(file), path, options);
    TR_TRY(sink->health());
    return sink;
}

std::unique_ptr<ByteSink> make_fd_sink(UniqueFd fd, const FileSinkOptions& options) {
    return make_sink(OutputFile{std::move(fd), false, {}}, "the output", options);
}

}  // namespace tracer
