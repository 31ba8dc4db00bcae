// SPDX-License-Identifier: Apache-2.0
//
// From probe texts to a plan: hands each spec to the compiler of its kind and checks what concerns
// all. Reads files and tracefs, attaches nothing, needs no root for files one may read. Called by
// the session and by tests.
#include "probe/probe_compiler.h"

#include "probe/compile_context.h"
#include "probe/nearest.h"
#include "probe/wildcard.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tracer {

namespace {

Status compile_one(const ProbeSpec& spec, const CompileContext& context) {
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

Result<std::vector<TargetFile>> find_files(const ProbeSpec& spec, const TargetFiles& targets) {
    auto found = targets.find(spec.path);
    if (!found.empty()) return found;
    NearestNames nearest(std::string(base_name(spec.path)));
    for (const auto& file : targets.files()) nearest.offer(base_name(file.shown_path));
    if (spec.path.find('/') != std::string::npos) {
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
                        const CompileContext& context) {
    // nopl 0(%rax,%rax,1), the form that the kernel optimises (arch/x86/kernel/uprobes.c, 6.18).
    constexpr std::array<uint8_t, 5> kNop5 = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    if (context.options.allow_nop5) return true;
    auto code = file.elf().read(file_offset, kNop5.size());
    // Fewer bytes before the end of the file are no such nop.
    if (!code) return true;
    const bool is_nop5 = std::equal(
        code->begin(), code->end(), kNop5.begin(),
        [](std::byte left, uint8_t right) { return static_cast<uint8_t>(left) == right; });
    if (!is_nop5) return true;
    auto text = fmt::format(
        "{} at {}+{:#x} is a 5-byte nop: a probe there kills children that are forked after its "
        "first hit (Linux 6.18)",
        spec.name, file.file().shown_path, file_offset);
    if (!has_wildcard(spec.name) && !has_wildcard(spec.provider)) {
        return fail(ErrorCode::missing_feature, std::move(text),
                    "--fast-sites allows it on kernels that pass a self-test");
    }
    context.builder.warn(text + "; left out");
    return false;
}

Result<AttachPlan> compile_probes(std::span<const ProbeSpec> specs,
                                  const TargetFiles& files,
                                  const CompileOptions& options) {
    PlanBuilder builder;
    ProbeFiles opened;
    const CompileContext context{files, options, opened, builder};
    for (const auto& spec : specs) {
        TR_TRY(compile_one(spec, context));
        if (builder.program_count() > options.programs_max) {
            return fail(ErrorCode::limit,
                        fmt::format("{} needs more than the {} probe sites allowed", spec.text,
                                    options.programs_max),
                        "name fewer with a narrower pattern");
        }
    }
    if (builder.program_count() > options.programs_warn) {
        builder.warn(fmt::format("{} probe sites: attaching and detaching takes long",
                                 builder.program_count()));
    }
    return std::move(builder).finish();
}

}  // namespace tracer
