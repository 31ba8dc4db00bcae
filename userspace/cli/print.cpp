// SPDX-License-Identifier: Apache-2.0
//
// What every command prints at its end. Standard output holds nothing but what was asked for (a
// list, JSON, the trace itself); everything for people goes to standard error.
#include "cli/print.h"

#include "session/human.h"
#include "session/summary_text.h"

#include <cerrno>

#include <fmt/format.h>

namespace tracer {

int report_error(const Error& error) {
    put_text(stderr, fmt::format("tracer: {}\n", error.what));
    if (!error.hint.empty()) put_text(stderr, fmt::format("hint: {}\n", error.hint));
    return exit_status(error.code);
}

Status finish_standard_output() {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
    // Of a write before this one errno is gone.
    const int sys_errno = errno != 0 ? errno : EIO;
    return fail_errno(ErrorCode::io, sys_errno, "write standard output");
}

int report_result(const RecordingResult& result, const Verbosity& verbosity) {
    const Summary& summary = result.summary;
    if (verbosity.json) {
        FILE* stream = summary.path == "-" ? stderr : stdout;
        put_text(stream, summary_json(summary));
        if (stream == stdout) {
            // Of two errors the recording's own is the one to tell.
            const Status printed = finish_standard_output();
            if (!printed && result.output) return report_error(printed.error());
        }
    } else if (!verbosity.quiet) {
        put_text(stderr, summary_text(summary, {.verbose = verbosity.verbose,
                                                .is_written = result.output.has_value()}));
    } else {
        for (const std::string& warning : summary.warnings) {
            put_text(stderr, fmt::format("tracer: warning: {}\n", warning));
        }
        if (const uint64_t lost = summary.loss.total(); lost > 0) {
            put_text(stderr, fmt::format("tracer: warning: {} events were lost\n", lost));
        }
    }
    if (!result.output) return report_error(result.output.error());
    return 0;
}

}  // namespace tracer
