// SPDX-License-Identifier: Apache-2.0
//
// What every command prints at its end. Standard output holds nothing but what was asked for (a
// list, JSON, the trace itself); everything for people goes to standard error.
#include "cli/print.h"

#include "session/summary_text.h"

#include <fmt/format.h>

namespace tracer {

int report_error(const Error& error) {
    fmt::print(stderr, "tracer: {}\n", error.what);
    if (!error.hint.empty()) fmt::print(stderr, "hint: {}\n", error.hint);
    return exit_status(error.code);
}

int report_result(const RecordingResult& result, const Verbosity& verbosity) {
    const Summary& summary = result.summary;
    if (verbosity.json) {
        FILE* stream = summary.path == "-" ? stderr : stdout;
        fmt::print(stream, "{}", summary_json(summary));
        std::fflush(stream);
    } else if (!verbosity.quiet) {
        fmt::print(stderr, "{}",
                   summary_text(summary, {.verbose = verbosity.verbose,
                                          .is_written = result.output.has_value()}));
    } else {
        for (const std::string& warning : summary.warnings) {
            fmt::print(stderr, "tracer: warning: {}\n", warning);
        }
        if (const uint64_t lost = summary.loss.total(); lost > 0) {
            fmt::print(stderr, "tracer: warning: {} events were lost\n", lost);
        }
    }
    if (!result.output) return report_error(result.output.error());
    return 0;
}

}  // namespace tracer
