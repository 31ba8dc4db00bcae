// SPDX-License-Identifier: Apache-2.0
//
// u:, ur: and span: probes, by a function's symbol. What makes a return probe deadly is refused
// here, or placed otherwise (return_way.h). Called by compile_probes.
#include "probe/call_sites.h"
#include "probe/caret.h"
#include "probe/code_place.h"
#include "probe/compile_context.h"
#include "probe/function_names.h"
#include "probe/go_abi.h"
#include "probe/indirect_function.h"
#include "probe/nearest.h"
#include "probe/probed_instruction.h"
#include "probe/return_harm.h"
#include "probe/return_way.h"
#include "probe/site_cost.h"
#include "probe/text_object.h"
#include "probe/wildcard.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace tracer {

namespace {

struct FoundFunction {
    NamedFunction named;
    ReturnWay way;  // of probes that catch returns
};

class FunctionCompiler {
public:
    FunctionCompiler(const ProbeSpec& spec, const CompileContext& context)
        : spec_(spec), context_(context) {}

    Status run() {
        // At the start its faults are told whatever is found. A file that comes later is asked for
        // the function first: most have none.
        if (context_.options.missing != MissingSpec::ignore) TR_TRY(condition_of_spec());
        TR_ASSIGN(const auto targets, find_files(spec_, context_.targets));
        for (const auto& target : targets) {
            TR_ASSIGN(auto* file, context_.files.open(target));
            if (searched_.insert(file).second) TR_TRY(search_file(*file));
        }
        if (found_.empty() && left_out_ > 0) return refuse_nothing_left(spec_, context_);
        if (found_.empty()) return not_found();
        warn_of_unnamed();
        for (auto& [name, sites] : found_) {
            TR_TRY(add_probe(name.first, name.second, std::move(sites)));
        }
        return {};
    }

private:
    [[nodiscard]] bool catches_return() const { return spec_.kind != ProbeKind::uprobe; }
    // A span's begin tells which returns are its own. A wildcard may find what is jumped to as
    // well, which has a span then.
    [[nodiscard]] bool follows_tails() const {
        return spec_.kind == ProbeKind::span && !has_wildcard(spec_.name);
    }

    Status search_file(ProbeFile& file) {
        TR_TRY(check_file(file));
        TR_ASSIGN(const auto* symbols, file.symbols());
        for (const auto& remark : symbols->remarks()) context_.builder.warn(remark);
        functions_seen_ += symbols->functions().size();
        if (catches_return()) find_return_harms(*symbols);
        const ReturnWays ways(file.elf(), *symbols,
                              catches_return() && context_.exceptions.may_pass_through(file.elf()));
        if (const auto address = address_in_name(spec_.name)) {
            return search_address(file, *symbols, ways, *address);
        }
        std::set<uint64_t> taken;
        std::vector<FoundFunction> found;
        auto functions = find_functions(*symbols, demangle_context(file.elf()), spec_.name);
        const auto chosen =
            functions.empty() ? chosen_function(file, *symbols, spec_.name) : std::nullopt;
        if (chosen) {
            context_.builder.warn(fmt::format(
                "{} stands for one of several functions, chosen when a program starts; on this "
                "machine it is {}, which is probed",
                spec_.name, chosen->name));
            functions.push_back({&*chosen, {spec_.name, spec_.name}});
        }
        for (auto& function : functions) {
            // Two names of one function: the first in order stands for both.
            if (!taken.insert(function.symbol->file_offset).second) continue;
            ReturnWay way;
            if (catches_return()) way = ways.find(*function.symbol, follows_tails());
            TR_ASSIGN(const bool is_usable, check_function(file, function, way));
            if (is_usable) {
                found.push_back({std::move(function), std::move(way)});
            } else {
                ++left_out_;
            }
        }
        if (!has_wildcard(spec_.name)) tell_of_several(file, found);
        for (auto& function : found) TR_TRY(add_site(file, ways, function));
        return {};
    }

    // An address instead of a symbol: for stripped files.
    Status search_address(ProbeFile& file,
                          const SymbolTable& symbols,
                          const ReturnWays& ways,
                          uint64_t address) {
        const auto offset = file.elf().file_offset_of(address);
        if (!offset) {
            return fail(ErrorCode::not_found,
                        fmt::format("{}: {} holds no bytes for address {:#x}", spec_.text,
                                    file.file().shown_path, address),
                        "an address is one of the file, as objdump shows it, not of a process");
        }
        const auto function = function_holding(file.elf(), symbols, address);
        const bool is_entry = function && function->vaddr == address;
        if (catches_return() && !is_entry) {
            return fail(ErrorCode::usage,
                        fmt::format("{}: no function is known to begin at {:#x}; a return probe "
                                    "elsewhere overwrites what is on the stack",
                                    spec_.text, address),
                        "use u: to record that the place is reached");
        }
        TR_ASSIGN(const auto warning, check_code_place(file.elf(), function, address, spec_.name));
        if (!warning.empty()) context_.builder.warn(warning);
        if (!is_entry) warn_of_arguments();
        const bool has_symbol = is_entry && function->symbol != nullptr;
        const FunctionSymbol place{has_symbol ? function->symbol->name : spec_.name, address,
                                   function ? function->bytes : 0, *offset};
        FoundFunction found{{&place, {spec_.name, spec_.name}}, {}};
        if (catches_return()) found.way = ways.find(place, follows_tails());
        TR_ASSIGN(const bool is_usable, check_function(file, found.named, found.way));
        if (is_usable) return add_site(file, ways, found);
        ++left_out_;
        return {};
    }

    void warn_of_arguments() const {
        if (spec_.args.empty()) return;
        context_.builder.warn(
            fmt::format("{}: arguments are read as they lie at the function's entry", spec_.text));
    }

    // Each place that leads to the function.
    Status add_calls(ProbeFile& file, const FoundFunction& found) {
        const auto& function = *found.named.symbol;
        TR_ASSIGN(const auto* symbols, file.symbols());
        const auto calls = find_call_sites(file.elf(), *symbols, function.vaddr);
        if (calls.offsets.empty()) {
            return fail(ErrorCode::not_found,
                        fmt::format("nothing in {} calls or jumps to {} directly",
                                    file.file().shown_path, function.name),
                        "use u: to record the function's entry");
        }
        if (calls.address_uses != 0) TR_TRY(tell_of_other_calls(file, function.name));
        for (const uint64_t offset : calls.offsets) {
            ProbeSite site;
            site.file = file.file();
            site.file_offset = offset;
            TR_ASSIGN(const bool is_usable, check_site(spec_, file, offset, spec_.text, context_));
            if (!is_usable) continue;
            TR_ASSIGN(const bool is_kept, choose_arguments(file, found.named, site));
            if (!is_kept) continue;
            found_[{std::string(base_name(site.file.shown_path)), found.named.name.bare}].push_back(
                std::move(site));
        }
        return {};
    }

    Status tell_of_other_calls(ProbeFile& file, const std::string& function) const {
        const std::string what =
            fmt::format("{}: the code of {} holds the address of {}: calls through it are not seen",
                        spec_.text, file.file().shown_path, function);
        if (context_.options.are_calls_whole) {
            return fail(ErrorCode::bad_input, what, "use u: to record the function's entry");
        }
        context_.builder.warn(what);
        return {};
    }

    Status add_site(ProbeFile& file, const ReturnWays& ways, FoundFunction& found) {
        if (spec_.is_at_calls) return add_calls(file, found);
        const auto& function = *found.named.symbol;
        if (found.way.may_be_unwound) {
            context_.warnings.return_probe_meets_exceptions(found.way.unwound_detail,
                                                            probe_text(spec_, {}, function.name));
        }
        ProbeSite site;
        site.file = file.file();
        site.file_offset = function.file_offset + spec_.symbol_offset;
        site.return_offsets = std::move(found.way.sites);
        site.tail_offsets = std::move(found.way.tail_sites);
        site.shares_returns = found.way.is_shared;
        site.is_goroutine = ways.is_go_function(function.name);
        if (site.is_goroutine) TR_TRY(check_goroutine_arguments());
        if (site.is_goroutine) TR_TRY(check_goroutine_clauses());
        if (spec_.symbol_offset == 0) site.file_offset += ways.entry_offset(function);
        TR_ASSIGN(const bool is_kept, choose_arguments(file, found.named, site));
        if (!is_kept) return {};
        if (site.is_goroutine) place_as_in_go(found.named.name.bare, site);
        tell_of_cost(file, function, site);
        found_[{std::string(base_name(site.file.shown_path)),
                found.named.name.bare + offset_text()}]
            .push_back(std::move(site));
        return {};
    }

    // A name without its parameters may be that of several functions.
    void tell_of_several(const ProbeFile& file, const std::vector<FoundFunction>& found) const {
        constexpr size_t kNamesMax = 5;
        std::set<std::string> names;
        for (const auto& function : found) names.insert(function.named.name.full);
        if (names.size() < 2) return;
        const size_t count = names.size();
        while (names.size() > kNamesMax) names.erase(std::prev(names.end()));
        context_.builder.warn(fmt::format(
            "{} is {} functions of {}, and all are probed{}: {}; one is named with its parameters, "
            "in double quotes",
            spec_.name, count, file.file().shown_path, count > kNamesMax ? ", among them" : "",
            fmt::join(names, "; ")));
    }

    // The goroutine takes more of a record's slots than a thread does.
    Status check_goroutine_arguments() const {
        for (const auto& arg : spec_.args) {
            if (!arg.is_parameter) continue;
            return fail_at(spec_.text, arg.text_offset, arg.operand.size(),
                           "arguments of Go's functions are known by number only",
                           "arg0 to arg8 are the first nine words of its arguments");
        }
        constexpr size_t kRoom = TR_ARGS_MAX - hidden_slots(HitRole::fiber_span_begin);
        if (spec_.kind != ProbeKind::span || spec_.args.size() <= kRoom) return {};
        return fail_at(spec_.text, spec_.args[kRoom].text_offset, spec_.args[kRoom].operand.size(),
                       fmt::format("more than {} arguments of a Go function's span", kRoom),
                       "the goroutine takes three of its 12 places");
    }

    // A gate knows a span's frame by the thread and its stack, both of which Go changes under it.
    Status check_goroutine_clauses() const {
        const auto& clauses = spec_.clauses;
        const bool is_gated =
            !clauses.condition.empty() || clauses.sample_every > 1 || clauses.rate_per_second != 0;
        if (spec_.kind == ProbeKind::span && is_gated) {
            return fail(
                ErrorCode::missing_feature,
                fmt::format("{}: a Go function's span takes no if, sample or rate", spec_.text),
                "u: records entries, and takes all three");
        }
        for (const auto& term : clauses.condition) {
            if (term.source != ConditionSource::operand || !term.operand.is_parameter) continue;
            return fail_at(spec_.text, term.text_offset, term.text_length,
                           "arguments of Go's functions are known by number only",
                           "arg0 to arg8 are the first nine words of its arguments");
        }
        return {};
    }

    void tell_of_cost(const ProbeFile& file,
                      const FunctionSymbol& function,
                      const ProbeSite& site) const {
        const auto code = code_from(file, site.file_offset, function);
        const bool is_stepped = classify_instruction(code) == InstructionClass::stepped;
        if (!is_stepped && !site.is_at_exits()) return;
        const auto text = probe_text(spec_, {}, function.name);
        std::string other;
        // Only an entry can be moved; a return probe needs the first instruction.
        const bool is_movable = spec_.kind == ProbeKind::uprobe && spec_.symbol_offset == 0;
        const auto cheaper = is_movable ? find_cheaper_site(code) : std::nullopt;
        if (cheaper) {
            const uint64_t offset = site.file_offset - function.file_offset + cheaper->offset;
            const bool has_all = cheaper->has_arguments && cheaper->has_stack_pointer;
            other = fmt::format("u:{}:{}+{:#x}{}", quote_probe_part(spec_.path),
                                quote_probe_part(function.name), offset,
                                has_all || spec_.args.empty()
                                    ? ""
                                    : " (where arguments are no longer in their places)");
        }
        context_.warnings.single_stepped(text, std::move(other));
    }

    // From there to the function's end; of one without a size, as much as one instruction needs.
    static std::vector<std::byte> code_from(const ProbeFile& file,
                                            uint64_t file_offset,
                                            const FunctionSymbol& function) {
        constexpr uint64_t kLookBytes = 64 << 10;
        const uint64_t from = file_offset - function.file_offset;
        const uint64_t rest = function.bytes > from ? function.bytes - from : kInstructionBytesMax;
        const uint64_t behind = file.elf().size() - file_offset;
        auto code = file.elf().read(file_offset, std::min({rest, behind, kLookBytes}));
        return code ? std::move(*code) : std::vector<std::byte>{};
    }

    // By place, because a harmless name may stand for the same function.
    void find_return_harms(const SymbolTable& symbols) {
        return_harms_.clear();
        for (const auto& function : symbols.functions()) {
            const auto harm = harm_of_return_probe(function.name);
            if (!harm.empty()) return_harms_[function.file_offset] = fmt::format("at {}", harm);
        }
    }

    [[nodiscard]] std::string offset_text() const {
        return spec_.symbol_offset == 0 ? "" : fmt::format("+{:#x}", spec_.symbol_offset);
    }

    Status check_file(const ProbeFile& file) const {
        const auto& path = file.file().shown_path;
        if (file.elf().is_debug_only()) {
            return fail(ErrorCode::bad_input, fmt::format("{} holds debug information only", path),
                        "name the program or library itself");
        }
        return {};
    }

    Result<bool> check_function(const ProbeFile& file,
                                const NamedFunction& named,
                                const ReturnWay& way) {
        const auto& function = *named.symbol;
        const auto& name = named.name.bare;
        const auto& path = file.file().shown_path;
        if (spec_.is_at_calls) return true;
        const auto listed = return_harms_.find(function.file_offset);
        const bool is_listed = listed != return_harms_.end();
        const std::string& harm = is_listed ? listed->second : way.harm;
        if (!harm.empty()) {
            if (!has_wildcard(spec_.name)) {
                const std::string detail = is_listed || way.detail.empty() ? "" : " " + way.detail;
                return fail(ErrorCode::missing_feature,
                            fmt::format("{} in {}: {}{}", name, path, harm, detail),
                            "use u: to record entries");
            }
            context_.warnings.leave_out(harm, probe_text(spec_, {}, name));
            return false;
        }
        if (spec_.symbol_offset != 0) {
            const uint64_t bytes = function.bytes;
            if (spec_.symbol_offset >= bytes && bytes != 0) {
                return fail(ErrorCode::usage,
                            fmt::format("{} in {} is {} bytes long; +{:#x} lies behind it", name,
                                        path, bytes, spec_.symbol_offset));
            }
            warn_of_arguments();
        }
        // A symbol without a size says nothing; the file bounds it.
        const uint64_t bytes_behind = file.elf().size() - function.file_offset;
        if (spec_.symbol_offset >= bytes_behind) {
            return fail(ErrorCode::bad_input,
                        fmt::format("{} lies behind the end of {}", spec_.text, path));
        }
        if (spec_.symbol_offset != 0) {
            const CodeFunction code{function.vaddr, function.bytes, &function};
            TR_ASSIGN(const auto warning,
                      check_code_place(file.elf(), code, function.vaddr + spec_.symbol_offset,
                                       name + offset_text()));
            if (!warning.empty()) context_.builder.warn(warning);
        }
        return check_site(spec_, file, function.file_offset + spec_.symbol_offset,
                          probe_text(spec_, {}, name), context_);
    }

    // Likeness is only measured now: it costs more than the search itself. Not where what a file
    // lacks is passed over: packs ask every file for what it may have.
    std::string nearest_hint() const {
        if (!context_.suggests()) return {};
        NearestNames nearest(spec_.name);
        for (auto* file : searched_) {
            auto symbols = file->symbols();
            if (!symbols) continue;
            const auto context = demangle_context(file->elf());
            for (const auto& symbol : (*symbols)->functions()) {
                const auto function = name_function(symbol, context);
                nearest.offer(symbol.name);
                if (function.is_mangled()) nearest.offer(function.name.bare);
            }
        }
        return nearest.hint();
    }

    // What the compiler has made of the function: copies for some of its callers, and its parts.
    [[nodiscard]] std::string clone_hint() const {
        constexpr size_t kNamesMax = 3;
        std::set<std::string> names;
        for (auto* file : searched_) {
            auto symbols = file->symbols();
            if (!symbols) continue;
            for (const auto& symbol : (*symbols)->functions()) {
                if (is_clone_of(symbol.name, spec_.name)) names.insert(symbol.name);
            }
        }
        if (names.empty()) return {};
        std::string text = "the compiler has made ";
        size_t count = 0;
        for (const std::string& name : names) {
            if (count == kNamesMax) break;
            text += fmt::format("{}{}", count++ == 0 ? "" : ", ", name);
        }
        return fmt::format("{}{} of it, whose arguments may lie elsewhere: {}:{}:{}", text,
                           names.size() > kNamesMax ? " and others" : "",
                           spec_.kind == ProbeKind::span     ? "span"
                           : spec_.kind == ProbeKind::uprobe ? "u"
                                                             : "ur",
                           quote_probe_part(spec_.path), quote_probe_part(*names.begin()));
    }

    // One whose choice cannot be read: nothing runs the file yet.
    [[nodiscard]] std::optional<Error> indirect_error() const {
        constexpr size_t kNamesMax = 8;
        for (auto* file : searched_) {
            const auto symbols = file->symbols();
            if (!symbols || !is_indirect_function(**symbols, spec_.name)) continue;
            auto names = candidates_of(**symbols, spec_.name);
            const bool is_cut = names.size() > kNamesMax;
            names.resize(std::min(names.size(), kNamesMax));
            return Error{ErrorCode::not_found, 0,
                         fmt::format("{} in {} is an indirect function: which one it stands for is "
                                     "chosen when the program starts",
                                     spec_.name, file->file().shown_path),
                         names.empty()
                             ? "give --pid of a program that runs it"
                             : fmt::format("give --pid of a program that runs it, or name "
                                           "one: {}{}",
                                           fmt::join(names, " "), is_cut ? " ..." : "")};
        }
        return std::nullopt;
    }

    Status not_found() const {
        if (auto error = indirect_error()) return tl::unexpected(std::move(*error));
        if (functions_seen_ == 0) {
            return fail(
                ErrorCode::not_found,
                fmt::format("{} has no function symbols (stripped)", spec_.path),
                "install its debug symbols (package NAME-dbgsym), build it without -s, or name an "
                "address: u:PATH:0x1234");
        }
        std::string hint = clone_hint();
        return fail(ErrorCode::not_found,
                    fmt::format("no function '{}' among the {} of {}", spec_.name, functions_seen_,
                                spec_.path),
                    hint.empty() ? nearest_hint() : std::move(hint));
    }

    // Those of one function: by name and by type they are its own.
    // False: its condition cannot be asked there, and a wildcard found it.
    Result<bool> choose_arguments(ProbeFile& file, const NamedFunction& function, ProbeSite& site) {
        const bool is_default_return = !spec_.has_args && spec_.kind == ProbeKind::uretprobe;
        const bool is_pattern = has_wildcard(spec_.name);
        auto args = spec_.args;
        if (is_default_return) {
            // To ask for each of thousands would take seconds.
            const auto type = is_pattern ? ArgType::s64 : ArgType::automatic;
            args.push_back({"ret", "ret", type, 0});
        }
        auto asked = args;
        for (const auto& term : spec_.clauses.condition) {
            if (term.source == ConditionSource::operand) asked.push_back(term.operand);
        }
        std::optional<FunctionArguments> known;
        // Go's own calling convention is not what is read of debug information.
        if (!site.is_goroutine) {
            TR_ASSIGN(known, known_arguments(file, *function.symbol, asked));
        }
        const FunctionArguments* const names = known ? &*known : nullptr;
        const bool is_void = known && known->return_type.form == DwarfForm::none;
        if (is_default_return && is_void) args.clear();
        const VariablePlaces variables = [&](std::string_view name) {
            return place_of_variable(file, site.file_offset, name);
        };
        for (const auto& arg : args) {
            auto argument = argument_of_function(spec_, arg, names, variables);
            if (!argument && !is_pattern) return tl::unexpected(std::move(argument).error());
            if (!argument) unnamed_.push_back(function.name.bare);
            const bool is_return = arg.operand == "ret" && !arg.is_parameter;
            auto& list =
                is_return && spec_.kind == ProbeKind::span ? site.return_arguments : site.arguments;
            list.push_back(argument ? std::move(*argument) : missing_argument(arg.label));
        }
        const bool goes_by_go = site.is_goroutine && spec_.kind != ProbeKind::uretprobe;
        TR_ASSIGN(const auto* condition, condition_of_spec());
        return add_condition(
            spec_, *condition,
            [&](const ArgSpec& arg) {
                auto compared = arg;
                if (names != nullptr) expand_compared_text(*names, compared);
                auto argument = argument_of_function(spec_, compared, names, variables);
                // Of one that cannot be placed the compiler of conditions tells.
                if (argument && goes_by_go) static_cast<void>(place_as_go_does(*argument));
                return argument;
            },
            probe_text(spec_, {}, function.name.bare), context_, site);
    }

    Result<const ConditionCompiler*> condition_of_spec() {
        if (!condition_) {
            TR_ASSIGN(condition_, ConditionCompiler::make(spec_, context_.options));
        }
        return &*condition_;
    }

    [[nodiscard]] static std::optional<VariablePlace> place_of_variable(ProbeFile& file,
                                                                        uint64_t from_offset,
                                                                        std::string_view name) {
        const auto symbols = file.symbols();
        const auto to = symbols ? (*symbols)->address_of(name) : std::nullopt;
        if (!to) {
            const auto offset = file.thread_offset_of(name);
            return offset ? std::optional(VariablePlace{true, *offset}) : std::nullopt;
        }
        const auto from = file.elf().code_address_of(from_offset);
        if (!from) return std::nullopt;
        return VariablePlace{false, static_cast<int64_t>(*to - *from)};
    }

    // What debug information tells of a function: looked for only when an argument is named by it,
    // or has a type that it may give.
    Result<std::optional<FunctionArguments>> known_arguments(ProbeFile& file,
                                                             const FunctionSymbol& function,
                                                             const std::vector<ArgSpec>& args) {
        const bool needs_names = std::ranges::any_of(args, [](const ArgSpec& arg) {
            return arg.is_parameter || std::ranges::any_of(arg.length, &ArgSpec::is_parameter);
        });
        const bool wants_types = std::ranges::any_of(
            args, [](const ArgSpec& arg) { return arg.type == ArgType::automatic; });
        if (!needs_names && !wants_types) return std::nullopt;
        const auto info = file.debug_info();
        if (!info && !needs_names) return std::nullopt;
        if (!info) {
            return fail(info.error().code, fmt::format("arguments by name: {}", info.error().what),
                        info.error().hint);
        }
        auto known = (*info)->function_at(function.vaddr);
        if (known) return std::move(*known);
        if (!needs_names || has_wildcard(spec_.name)) return std::nullopt;
        return tl::unexpected(std::move(known).error());
    }

    // A wildcard's functions differ: the argument is missing in those that do not have it.
    void warn_of_unnamed() const {
        if (unnamed_.empty()) return;
        context_.builder.warn(fmt::format(
            "{}: {} argument{} missing, as of {}: no such parameter, or not of that form",
            spec_.text, unnamed_.size(), unnamed_.size() == 1 ? " is" : "s are", unnamed_.front()));
    }

    Status add_probe(const std::string& category,
                     const std::string& name,
                     std::vector<ProbeSite> sites) {
        const auto symbol = std::string_view(name).substr(0, name.size() - offset_text().size());
        auto identity = identity_of_probe(spec_, category, name, probe_text(spec_, {}, symbol));
        std::vector<std::string> labels;
        for (const auto& argument : sites.front().arguments) labels.push_back(argument.label);
        TR_ASSIGN(identity.shown_name, compile_name(spec_, labels));
        context_.builder.add(std::move(identity), std::move(sites));
        return {};
    }

    void place_as_in_go(const std::string& name, ProbeSite& site) const {
        if (spec_.kind == ProbeKind::uretprobe) return;
        for (auto& argument : site.arguments) {
            auto label = argument.label;
            if (place_as_go_does(argument)) continue;
            context_.builder.warn(fmt::format(
                "{}: {} is missing: only the first nine words of a Go function's arguments can "
                "be read",
                name, label));
        }
    }

    const ProbeSpec& spec_;
    const CompileContext& context_;
    std::map<std::pair<std::string, std::string>, std::vector<ProbeSite>> found_;
    std::set<ProbeFile*> searched_;
    std::map<uint64_t, std::string> return_harms_;  // of the file that is searched, by file offset
    std::optional<ConditionCompiler> condition_;
    std::vector<std::string> unnamed_;  // functions, once for each argument that is missing
    size_t functions_seen_ = 0;
    size_t left_out_ = 0;
};

}  // namespace

Status compile_function(const ProbeSpec& spec, const CompileContext& context) {
    return FunctionCompiler(spec, context).run();
}

}  // namespace tracer
