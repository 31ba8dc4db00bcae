// SPDX-License-Identifier: Apache-2.0
//
// `tracer convert IN.traw -o OUT.fxt`: a capture through session/convert.h, with a progress line on
// a terminal; a file of rings through session/ring_trace.h.
#include "cli/commands.h"
#include "cli/print.h"
#include "session/convert.h"
#include "session/human.h"
#include "session/output_file.h"
#include "session/ring_trace.h"
#include "session/status_line.h"

#include <csignal>
#include <memory>
#include <optional>
#include <sys/stat.h>

#include <fmt/format.h>

namespace tracer {
namespace {

// Both paths leading to one file would replace the input before it is read.
Status check_paths(const std::string& input, const std::string& output) {
    struct stat in {};
    struct stat out {};
    if (stat(input.c_str(), &in) != 0) {
        return fail_errno(ErrorCode::not_found, errno, fmt::format("read {}", input));
    }
    if (output != "-" && stat(output.c_str(), &out) == 0 && in.st_dev == out.st_dev &&
        in.st_ino == out.st_ino) {
        return fail(ErrorCode::usage, "the input and the output are the same file",
                    "give -o another name");
    }
    return {};
}

class Progress {
public:
    explicit Progress(StatusLine& line) : line_(line) {}

    void show(uint64_t done, uint64_t total) {
        // A block is 48 KiB at most; a line for each megabyte is plenty.
        if (done < next_ && done != total) return;
        next_ = done + (1u << 20);
        std::string text = fmt::format("{} read", human_bytes(done));
        if (total > 0) text += fmt::format(" of {} ({} %)", human_bytes(total), done * 100 / total);
        line_.show_text(text);
    }

private:
    StatusLine& line_;
    uint64_t next_ = 0;
};

// A file of rings, or what is to be read as a capture.
Result<std::optional<ring::Cursor>> open_rings(const ConvertCommand& command) {
    auto cursor = ring::Cursor::open_file(command.input_path, {.versions = command.ocaml});
    if (cursor) return std::optional(std::move(*cursor));
    const bool is_named_so = command.input_path.ends_with(".events");
    if (is_named_so) return tl::unexpected(std::move(cursor).error());
    return std::nullopt;
}

Result<RecordingResult> convert(const ConvertCommand& command,
                                ring::Cursor* rings,
                                const Format& format,
                                std::unique_ptr<ByteSink> sink) {
    if (rings != nullptr) {
        return convert_rings({.input_path = command.input_path}, *rings, format, std::move(sink));
    }
    StatusLine line(stderr);
    Progress progress(line);
    ConvertOptions options{.input_path = command.input_path, .on_progress = {}};
    if (!command.verbosity.quiet) {
        options.on_progress = [&progress](uint64_t done, uint64_t total) {
            progress.show(done, total);
        };
    }
    auto result = convert_capture(options, format, std::move(sink));
    line.clear();
    return result;
}

}  // namespace

Result<int> run_convert(const ConvertCommand& command) {
    TR_ASSIGN(const OutputTarget target, choose_output(command.output_path, command.format_name));
    if (target.format == nullptr) {
        return fail(ErrorCode::usage, "convert writes traces, not raw captures",
                    "give -o a name that ends in .fxt, .eventlog, .json, .txt or .ndjson");
    }
    TR_TRY(check_paths(command.input_path, target.path));
    TR_ASSIGN(auto rings, open_rings(command));
    // A closed reader is an error of the sink, not the end of the process.
    std::signal(SIGPIPE, SIG_IGN);
    TR_ASSIGN(auto sink, open_output_sink(target.path, false, target.format->is_text));
    auto result = convert(command, rings ? &*rings : nullptr, *target.format, std::move(sink));
    if (!result) {
        // Nothing was converted: the file is empty.
        remove_output(target.path);
        return tl::unexpected(std::move(result).error());
    }
    result->summary.path = target.path;
    return report_result(*result, command.verbosity);
}

}  // namespace tracer
