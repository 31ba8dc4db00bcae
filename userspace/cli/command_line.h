// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/buffer_size.h"
#include "session/selection.h"
#include "session/targets.h"
#include "tracer/base/result.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace tracer {

// How much is printed, and how: common to the commands that end with a summary.
struct Verbosity {
    bool quiet = false;
    bool verbose = false;
    bool json = false;
};

struct RecordCommand {
    std::vector<uint32_t> ids;
    std::vector<NamespacedId> namespaced_ids;
    SelectionRequest selection;
    bool all = false;
    bool tree = false;
    bool wait = false;                 // for probes that no file has yet, also with --pid alone
    std::vector<std::string> command;  // after "--"
    std::vector<std::string> probes;   // -e texts
    std::string output_path;           // empty: the default name
    std::string format_name;           // empty: by the suffix
    std::optional<std::chrono::nanoseconds> duration;
    uint64_t bytes_max = 0;  // 0: no limit
    std::optional<BufferRequest> buffer;
    uint32_t drain_percent = 50;
    bool real_time = true;
    bool sched = true;
    bool force_perf_links = false;
    bool fast_sites = false;  // probes on 5-byte nops
    bool debuginfod = false;
    Verbosity verbosity;

    // Whether a probe that is found nowhere yet is waited for instead of refused.
    [[nodiscard]] bool waits_for_probes() const {
        return wait || all || tree || !selection.is_empty();
    }
};

struct ListCommand {
    std::vector<uint32_t> ids;
    std::string file;
    std::string pattern;  // empty: everything
    bool json = false;
    bool debuginfod = false;
};

struct ExplainCommand {
    std::vector<uint32_t> ids;
    std::vector<std::string> command;  // after "--"
    std::vector<std::string> probes;   // -e texts
    bool json = false;
    bool debuginfod = false;
};

struct DoctorCommand {
    bool json = false;
};

struct ConvertCommand {
    std::string input_path;
    std::string output_path;
    std::string format_name;
    Verbosity verbosity;
};

// --help and --version.
struct PrintCommand {
    std::string text;
};

using Command = std::variant<RecordCommand,
                             ListCommand,
                             ExplainCommand,
                             DoctorCommand,
                             ConvertCommand,
                             PrintCommand>;

// `arguments` without the program's name. Wrong input is a usage error that names the option.
[[nodiscard]] Result<Command> parse_command_line(std::span<const std::string> arguments);

}  // namespace tracer
