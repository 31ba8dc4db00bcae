// SPDX-License-Identifier: Apache-2.0
//
// t: probes. The kernel describes each tracepoint's record in tracefs; fields are read from the
// record that the program is given. Called by compile_probes.
#include "probe/caret.h"
#include "probe/compile_context.h"
#include "probe/nearest.h"
#include "probe/wildcard.h"

#include <algorithm>

#include <fmt/format.h>

namespace tracer {

namespace {

class TracepointCompiler {
public:
    TracepointCompiler(const ProbeSpec& spec,
                       const CompileContext& context,
                       const TracepointCatalog& catalog)
        : spec_(spec), context_(context), catalog_(catalog) {}

    Status run() {
        TR_ASSIGN(const auto categories, catalog_.categories());
        size_t found = 0;
        size_t seen = 0;
        for (const auto& category : categories) {
            const bool is_category = wildcard_matches(spec_.provider, category);
            TR_ASSIGN(const auto names, catalog_.names(category));
            for (const auto& name : names) {
                ++seen;
                if (!is_category || !wildcard_matches(spec_.name, name)) continue;
                TR_TRY(add(category, name));
                ++found;
            }
        }
        if (found != 0 && !has_sites_) return refuse_nothing_left(spec_, context_);
        if (found != 0) return {};
        return fail(ErrorCode::not_found,
                    fmt::format("no tracepoint {}:{} among the kernel's {}", spec_.provider,
                                spec_.name, seen),
                    nearest_hint(categories));
    }

private:
    std::string nearest_hint(const std::vector<std::string>& categories) const {
        NearestNames nearest(spec_.provider + ":" + spec_.name);
        for (const auto& category : categories) {
            auto names = catalog_.names(category);
            if (!names) continue;
            for (const auto& name : *names) nearest.offer(fmt::format("{}:{}", category, name));
        }
        return nearest.hint();
    }

    Status add(const std::string& category, const std::string& name) {
        TR_ASSIGN(const auto format, catalog_.format(category, name));
        TR_ASSIGN(const auto wanted, wanted_arguments(format));
        ProbeSite site;
        // A wildcard's tracepoints differ: those without a field, or with one of another type, mark
        // it missing.
        const bool is_pattern = has_wildcard(spec_.name) || has_wildcard(spec_.provider);
        for (const auto& arg : wanted) {
            if (!is_pattern) TR_TRY(check_fields(format, arg));
            auto argument = argument_of_field(spec_, arg, format, category == "syscalls");
            if (!argument && !is_pattern) return tl::unexpected(std::move(argument).error());
            if (!argument) {
                context_.builder.warn(
                    fmt::format("{}:{}: {} ({}) is no {}; left out", category, name, arg.operand,
                                find_field(format, arg.operand)->type, wanted_form(arg)));
            }
            site.arguments.push_back(argument ? std::move(*argument) : missing_argument(arg.label));
        }
        const auto text = probe_text(spec_, category, name);
        auto identity = identity_of_probe(spec_, category, name, text);
        TR_ASSIGN(identity.shown_name, compile_name(spec_, labels_of(wanted)));
        TR_ASSIGN(const auto condition, ConditionCompiler::make(spec_, context_.options));
        const auto operand = [&](const ArgSpec& arg) -> Result<ProbeArgument> {
            TR_TRY(check_fields(format, arg));
            return argument_of_field(spec_, arg, format, category == "syscalls");
        };
        TR_ASSIGN(const bool is_kept,
                  add_condition(spec_, condition, operand, text, context_, site));
        if (!is_kept) return {};
        has_sites_ = true;
        context_.builder.add(std::move(identity), {std::move(site)});
        return {};
    }

    Result<std::vector<ArgSpec>> wanted_arguments(const TracepointFormat& format) const {
        if (spec_.has_args) return spec_.args;
        std::vector<ArgSpec> wanted;
        for (const auto& field : format.fields) {
            if (field.is_common || field.form == FieldForm::other) continue;
            if (wanted.size() == TR_ARGS_MAX) {
                context_.builder.warn(
                    fmt::format("{} has more than {} fields; only the first are taken", format.name,
                                TR_ARGS_MAX));
                break;
            }
            wanted.push_back({field.name, field.name, ArgType::automatic, 0});
        }
        return wanted;
    }

    Status check_fields(const TracepointFormat& format, const ArgSpec& arg) const {
        if (find_field(format, arg.operand) == nullptr) return no_field(format, arg);
        for (const auto& length : arg.length) {
            if (find_field(format, length.operand) == nullptr) return no_field(format, length);
        }
        return {};
    }

    tl::unexpected<Error> no_field(const TracepointFormat& format, const ArgSpec& arg) const {
        std::string fields;
        for (const auto& field : format.fields) {
            if (field.is_common || field.form == FieldForm::other) continue;
            fields += (fields.empty() ? "" : " ") + field.name;
        }
        return fail_at(spec_.text, arg.text_offset, arg.operand.size(),
                       fmt::format("{} has no field '{}'", format.name, arg.operand),
                       fields.empty() ? "it has no fields" : "its fields: " + fields);
    }

    const ProbeSpec& spec_;
    const CompileContext& context_;
    const TracepointCatalog& catalog_;
    bool has_sites_ = false;
};

}  // namespace

Status compile_tracepoint(const ProbeSpec& spec, const CompileContext& context) {
    if (context.options.tracepoints == nullptr) {
        return fail(ErrorCode::missing_feature,
                    fmt::format("{}: the kernel's tracepoints cannot be read", spec.text),
                    "run as root (sudo)");
    }
    return TracepointCompiler(spec, context, *context.options.tracepoints).run();
}

}  // namespace tracer
