// SPDX-License-Identifier: Apache-2.0
//
// From probe texts to a plan: hands each spec to the compiler of its kind and checks what concerns
// all. Reads files and tracefs, attaches nothing, needs no root for files one may read. Called by
// the session and by tests.
#include "probe/probe_compiler.h"

#include "probe/compile_context.h"
#include "probe/nearest.h"
#include "probe/site_harm.h"
#include "probe/wildcard.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>

#include <fmt/format.h>

namespace tracer {

namespace {

// A later file may have it: none of its name is known yet, or the text names no single file. A file
// that is there and lacks the probe will not get it.
bool may_come_later(const ProbeSpec& spec, const TargetFiles& files) {
    if (spec.kind == ProbeKind::tracepoint) return false;
    return spec.path.empty() || has_wildcard(spec.path) || files.find(spec.path).empty();
}

bool may_come_later(const EventSpec& event, const TargetFiles& files) {
    return !event.all([&](const ProbeSpec& spec) { return !may_come_later(spec, files); });
}

// Compiles one event, or decides what becomes of it.
Status take_event(const EventSpec& event, const CompileContext& context, AttachPlan& unresolved) {
    Status compiled =
        event.is_pair() ? compile_pair(event, context) : compile_spec(event.begin, context);
    if (compiled) return {};
    const Error& error = compiled.error();
    const bool is_missing = error.code == ErrorCode::not_found;
    const std::string reason =
        error.hint.empty() ? error.what : fmt::format("{}; {}", error.what, error.hint);
    switch (context.options.missing) {
        case MissingSpec::refuse:
            return compiled;
        case MissingSpec::wait:
            if (!is_missing || !may_come_later(event, context.targets)) return compiled;
            break;
        case MissingSpec::ignore:
            if (!is_missing) unresolved.warnings.push_back(reason);
            break;
    }
    unresolved.waiting.push_back({event.text, reason});
    return {};
}

Status compile_kind(const ProbeSpec& spec, const CompileContext& context) {
    switch (spec.kind) {
        case ProbeKind::usdt:
            return compile_usdt(spec, context);
        case ProbeKind::uprobe:
        case ProbeKind::uretprobe:
        case ProbeKind::span:
            return compile_function(spec, context);
        case ProbeKind::tracepoint:
            return compile_tracepoint(spec, context);
    }
    return fail(ErrorCode::internal, "unknown kind of probe");
}

}  // namespace

Status compile_spec(const ProbeSpec& spec, const CompileContext& context) {
    const size_t first = context.builder.candidate_count();
    TR_TRY(compile_kind(spec, context));
    return apply_clauses(spec, context, first);
}

Result<std::vector<TargetFile>> find_files(const ProbeSpec& spec, const TargetFiles& targets) {
    auto found = targets.find(spec.path);
    if (!found.empty()) return found;
    NearestNames nearest(std::string(base_name(spec.path)));
    for (const auto& file : targets.files()) nearest.offer(base_name(file.shown_path));
    if (spec.path.find('/') != std::string::npos) {
        std::error_code unreadable;
        if (std::filesystem::is_directory(spec.path, unreadable)) {
            return fail(ErrorCode::not_found, fmt::format("{} is a folder", spec.path),
                        "probes are in a program or a library");
        }
        return fail(ErrorCode::not_found, fmt::format("no file {}", spec.path), nearest.hint());
    }
    auto hint = nearest.hint();
    if (hint.empty()) hint = "a path with a '/' names a file that is not mapped yet";
    return fail(ErrorCode::not_found,
                fmt::format("no file called '{}' among {}", spec.path, targets.describe()),
                std::move(hint));
}

Result<bool> check_site(const ProbeSpec& spec,
                        const ProbeFile& file,
                        uint64_t file_offset,
                        const std::string& name,
                        const CompileContext& context) {
    const auto harm = find_harm(spec, file, file_offset, context.options.allow_nop5);
    if (!harm) return true;
    if (!has_wildcard(spec.name) && !has_wildcard(spec.provider)) {
        return fail(harm->code,
                    fmt::format("{} at {}+{:#x}: {}", name, file.file().shown_path, file_offset,
                                harm->what),
                    harm->hint);
    }
    context.warnings.leave_out(harm->what, name);
    return false;
}

Result<bool> add_condition(const ProbeSpec& spec,
                           const ConditionCompiler& condition,
                           const OperandAtSite& operand,
                           const std::string& name,
                           const CompileContext& context,
                           ProbeSite& site) {
    auto terms = condition.at_site(operand);
    if (terms) {
        site.condition = std::move(*terms);
        return true;
    }
    if (!has_wildcard(spec.name) && !has_wildcard(spec.provider)) {
        return tl::unexpected(std::move(terms).error());
    }
    // The error's first line; the others show the probe's text.
    const auto& what = terms.error().what;
    context.warnings.leave_out(fmt::format("its condition: {}", what.substr(0, what.find('\n'))),
                               name);
    return false;
}

Status refuse_nothing_left(const ProbeSpec& spec, const CompileContext& context) {
    return fail(ErrorCode::missing_feature,
                fmt::format("{}: nothing remains to be probed: {}", spec.text,
                            fmt::join(context.warnings.lines(), "; ")));
}

Result<AttachPlan> compile_events(std::span<const EventSpec> events,
                                  const TargetFiles& files,
                                  const CompileOptions& options) {
    PlanBuilder builder;
    ProbeFiles own(options.debug_files);
    ProbeFiles& opened = options.opened != nullptr ? *options.opened : own;
    CompileWarnings warnings;
    const ExceptionFiles exceptions(files, options);
    const CompileContext context{files, options, opened, builder, warnings, exceptions};
    AttachPlan unresolved;
    for (const auto& event : events) {
        TR_TRY(take_event(event, context, unresolved));
        if (builder.program_count() > options.programs_max) {
            return fail(ErrorCode::limit,
                        fmt::format("{} needs more than the {} probe sites allowed", event.text,
                                    options.programs_max),
                        "name fewer with a narrower pattern");
        }
    }
    for (const auto& line : warnings.lines()) builder.warn(line);
    for (const auto& line : unresolved.warnings) builder.warn(line);
    AttachPlan plan = std::move(builder).finish();
    for (AttachFile& file : plan.files) file.held = opened.hold(file.open_path);
    plan.waiting = std::move(unresolved.waiting);
    return plan;
}

Result<AttachPlan> compile_probes(std::span<const ProbeSpec> specs,
                                  const TargetFiles& files,
                                  const CompileOptions& options) {
    std::vector<EventSpec> events;
    for (const auto& spec : specs) {
        events.push_back(
            {.text = spec.text, .begin = spec, .other_begins = {}, .end = {}, .until = {}});
    }
    return compile_events(events, files, options);
}

}  // namespace tracer
