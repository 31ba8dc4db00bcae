// SPDX-License-Identifier: Apache-2.0
//
// What can be probed: the core of `tracer list`. Every line is a probe that -e accepts.
#pragma once

#include "probe/target_files.h"
#include "symbol/debug_file.h"
#include "symbol/tracefs.h"
#include "tracer/base/result.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace tracer {

struct ListedProbe {
    std::string line;       // "usdt:/usr/bin/python3.11:python:gc__start(arg0:s32)"
    std::string demangled;  // of a function: "ns::Class::method(int)"; empty where equal
    // Of a function, where debug information knows it: "(arg:size: size_t) -> void *". Empty: it
    // is not known, or was not looked for, which is so without a pattern.
    std::string parameters;
    size_t site_count = 1;
    bool has_semaphore = false;
    std::string remark;  // why it may not work; else empty
    // Processes that run the file, where processes were looked at. Good during the call.
    std::span<const pid_t> runners;
};

// The line with what else is known as a comment, which the grammar passes over:
// "usdt:...:query__start(arg0:u64)  # 3 sites, semaphore". `runners`: who they are, in words; may
// be empty.
[[nodiscard]] std::string annotated_line(const ListedProbe& probe, std::string_view runners = {});

struct ListOptions {
    // Compared with provider:name, the name alone, a symbol and its demangled name, category:name.
    // Empty: everything.
    std::string pattern;
    bool functions = true;
    bool usdt = true;
    DebugFileSearch debug_files;
};

struct ListOutcome {
    size_t files_searched = 0;
    size_t files_unreadable = 0;  // not ELF, of an unknown machine, malformed
    size_t probes = 0;
    size_t foreign_probes = 0;  // of these, in files of machines that cannot be probed here
};

using ListedProbeHandler = std::function<void(const ListedProbe&)>;

// Probes of each file in turn: USDT first, then functions in order of address.
[[nodiscard]] ListOutcome list_probes(const TargetFiles& files,
                                      const ListOptions& options,
                                      const ListedProbeHandler& handler);

[[nodiscard]] Status list_tracepoints(const TracepointCatalog& catalog,
                                      std::string_view pattern,
                                      const ListedProbeHandler& handler);

}  // namespace tracer
