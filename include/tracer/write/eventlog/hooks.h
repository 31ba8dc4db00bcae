// SPDX-License-Identifier: Apache-2.0
//
// GHC's EventLogWriter, for programs that have one: where a log's bytes go as four functions.
#pragma once

#include "tracer/write/byte_sink.h"

#include <functional>
#include <memory>
#include <span>

namespace tracer::eventlog {

// Called one at a time, but from whichever thread flushes or fills a buffer. Empty ones are left
// out. None may call back into the log.
struct WriterHooks {
    std::function<void()> init;  // before the first write
    // A header or a whole block. False: nothing was taken, there is no room now.
    std::function<bool(std::span<const std::byte>)> write;
    std::function<void()> flush;
    std::function<void()> stop;  // after the last
};

// A sink that calls the hooks.
[[nodiscard]] std::unique_ptr<ByteSink> make_hook_sink(WriterHooks hooks);

// Hooks that write to a sink: stop closes it. A block that the sink takes in part is completed
// before the next; until then `write` says false.
[[nodiscard]] WriterHooks make_hooks(std::unique_ptr<ByteSink> sink);

}  // namespace tracer::eventlog
