// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tracer {

// While one exists, what libbpf has to say on this thread is kept here instead of printed. libbpf
// knows one process-wide callback without a context; the capture is found through a thread-local.
class LibbpfLog {
public:
    LibbpfLog();
    ~LibbpfLog();
    LibbpfLog(const LibbpfLog&) = delete;
    LibbpfLog& operator=(const LibbpfLog&) = delete;

    // The last lines, at most 8, without libbpf's own prefix.
    [[nodiscard]] std::string tail() const;

private:
    std::string text_;
};

}  // namespace tracer
