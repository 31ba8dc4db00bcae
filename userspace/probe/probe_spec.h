// SPDX-License-Identifier: Apache-2.0
//
// One probe as its text says it, before any file is looked at.
//
//   usdt:[PATH:]provider:name[(args)]      u:PATH:symbol[+off][(args)]     ur:PATH:symbol[(args)]
//   span:PATH:symbol[(args)]               t:category:name[(args)]
//   calls:PATH:symbol[(args)]
//
// calls: stands for each instruction of the file that calls or jumps to the function directly
// (call, jmp, jcc with a distance): cheap to probe where a function's first instruction is not
// (site_cost.h), and the only places where some code is reached from. argN are those in registers.
//
// each followed by clauses, in any order, each at most once:
//
//   if CONDITION      only hits for which it is true         if arg1 > 4096 && comm ~ "pg*"
//   sample 1/N        on each CPU the first of every N hits  sample 1/100
//   rate N/s          at most so many a second               rate 500/s
//   as "TEMPLATE"     the event's name, from its arguments   as "query {q}"
//   raise PROVIDER:NAME   while the probe is attached the semaphore of that USDT probe of the same
//                     file is raised too, without its events
//
//   runtime WORD      what the event says of a runtime with threads of its own, for formats that
//                     have words for it (the eventlog): run, gc, create, wakeup, label, message,
//                     marker; model::PointRole has the names of their arguments
//   unless ring       not in processes whose ring of events is read, which says the same
//
// and at most one of those that say what a hit is, when it is no event of its thread:
//
//   track "LINE"      an event or span on a line of its own beside the thread, one for each LINE,
//                     which is a TEMPLATE too                track "pool {pool}"
//   track "LINE" of process   on one that all threads of the process share; the end of a pair is
//                     looked for on the line that its own arguments name
//                                                            track "domain {domain}" of process
//   counter           its numbers are series of a counter of the process, called by `as`
//   state "LINE"      from here on the thread is in the state named by `as`, shown on such a line,
//                     until the next hit of any probe with the same LINE on it; an empty name ends
//                     the state                              state "phase" as "{p}"
//   names thread      the running thread is called by `as`, or by the first text argument, until
//   names process     it runs another program or is named again; there is no event
//
//   args   := arg {"," arg}        arg := [label "="] operand [":" type] ["/" format]
//   operand:= place ["*" 2|4|8] {"+" N | "-" N}   multiplied: of what lies in a register
//   place  := argN | ret | NAME (a tracepoint's field)
//           | "arg:" NAME {("->" | ".") member}   a function's parameter by name and type, from its
//                                                 debug information
//           | "%" REGISTER                        of functions: %rbx, %r13; 64 bits
//           | "&" NAME            of functions: the address of a variable of the file, also of
//                                 one that each thread of a program has
//           | "*(" operand ")"    what lies in memory at that address
//             (a C++ reference is what it leads to: "."; std::string, string_view, Rust's String
//             and &str are their text)
//             of functions arg0 to arg5 are in registers; arg6 to arg11 are read from the stack,
//             and are whatever lies there when the function has fewer
//   type   := s8|s16|s32|s64|u8|u16|u32|u64|ptr|bool|f32|f64
//           | str              NUL-ended text, of which at most 255 bytes are kept
//           | str[N+]          the same with room for N bytes, the NUL included (at most 4096)
//           | str[N]           an array of N bytes, which ends at a NUL if it holds one
//           | str[operand[:type][,N]]  text of that many bytes, of which at most N (4096) are kept
//   format := x                hexadecimal
//           | map(N=name,...)  names for values; others stay numbers
//           | type             of str: the name in a C++ type_info, shown demangled; conditions
//                              compare it as it is in memory ("St13runtime_error")
//
//   for example  (*(arg0+8):u32/x, path=*(*(arg0+16)+24):str, buf=arg1:str[arg2],
//                 op=arg3/map(0=read,1=write), arg:request->size, thrown=*(arg4+8):str/type,
//                 top=*(%rsp+8):u32, pages=*(&mapped_pages):u64)
//
// A symbol is what the file calls a function, what the source does ("ns::Class::method", with or
// without parameters), or a link-time address of the file (0x4011d0). Behind a space and '#' stands
// a comment, as `tracer list` prints it.
//
//   condition := term, and terms joined by && and ||, negated by !, grouped by ( )
//   term      := value (== != < <= > >= &) INTEGER | value (== != ~) "TEXT" |
//                cgroup (== !=) "PATH"|ID | container (== !=) "NAME"
//   value     := LABEL of one of args | operand [":" type] | comm | pid | tid
//
// TEXT is also one of the names that an enumeration or /map gives to values, for == and !=.
// INTEGER is decimal, 0x hexadecimal, 0 octal, or a character as in 'c'. & is true if any bit of
// the two is common. ~ takes the wildcards * and ?. Terms are taken from left to right as in C; at
// the first one whose operand cannot be read the hit is not recorded, and counted as unknown.
//
// provider, name, symbol and category may hold the wildcards * and ?. A part with ':', '(' or a
// space in it is put in double quotes, in which \" and \\ stand for " and \. PATH with a '/' is a
// path as the target sees it; without one it is the base name of a file mapped by the target. In
// packs, @ is the file that the pack has matched.
#pragma once

#include "tracer/base/result.h"
#include "tracer/model/definition.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

enum class ProbeKind : uint8_t { usdt, uprobe, uretprobe, span, tracepoint };

enum class ArgType : uint8_t {
    automatic,  // from the USDT note, the tracepoint's format, debug information; else s64
    s8,
    s16,
    s32,
    s64,
    u8,
    u16,
    u32,
    u64,
    pointer,
    boolean,
    f32,
    f64,
    string,
};

enum class TextForm : uint8_t {
    ended,    // by a NUL
    array,    // of ArgSpec::text_bytes bytes; by a NUL before that
    counted,  // as long as ArgSpec::length says
};

// A step of arg:NAME->member.member.
struct ArgMember {
    std::string name;
    bool is_behind_pointer = false;  // "->", else "."
    size_t text_offset = 0;          // in the probe's text
};

struct ArgSpec {
    std::string label;  // shown name; the operand's text when none was given
    // "arg0", "ret", "%r13", "&variable", a tracepoint's field, or with is_parameter its name
    std::string operand;
    ArgType type = ArgType::automatic;
    size_t text_offset = 0;  // of the operand in the probe's text, for carets

    bool is_parameter = false;  // arg:NAME
    std::vector<ArgMember> members = {};
    uint8_t scale = 1;  // what the place is multiplied by: 2, 4, 8
    // *(operand + N): what is added before each load, the innermost first.
    std::vector<int64_t> walk = {};
    int64_t addend = 0;  // behind them

    // Of ArgType::string.
    TextForm text_form = TextForm::ended;
    uint32_t text_bytes = 0;           // room, at most kTextRoomMax; 0: the default
    std::vector<ArgSpec> length = {};  // counted: one, without a label

    bool is_hex = false;
    bool is_cxx_type = false;
    std::vector<model::ValueName> names = {};
};

inline constexpr uint32_t kTextRoomMax = 4096;

// What a term of a condition looks at.
enum class ConditionSource : uint8_t { operand, comm, pid, tid, cgroup, container };

enum class ConditionOperator : uint8_t {
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    any_bit,
    glob,
};

// Where a condition goes on after a term: another one behind it, or one of its two ends.
inline constexpr uint8_t kConditionTrue = 254;
inline constexpr uint8_t kConditionFalse = 255;

struct ConditionTerm {
    ConditionSource source = ConditionSource::operand;
    ConditionOperator compare = ConditionOperator::equal;
    ArgSpec operand;       // of ConditionSource::operand
    bool is_text = false;  // compared with `text`; else with the integer
    bool is_negative = false;
    uint64_t magnitude = 0;  // of the integer
    std::string text;
    uint8_t on_true = kConditionTrue;
    uint8_t on_false = kConditionFalse;
    size_t text_offset = 0;  // of the term in the probe's text, for carets
    size_t text_length = 0;
};

// A part of an event's name: text as it is, or an argument's value.
struct TemplatePiece {
    bool is_label = false;
    std::string text;
    size_t text_offset = 0;  // in the probe's text
};

// What a hit is.
enum class HitMeaning : uint8_t {
    event,    // an instant, or one end of a span
    counter,  // values of a counter
    state,    // the thread is in another state
    thread_name,
    process_name,
};

// Where a clause stands in the probe's text, its word included; of length 0: nowhere.
struct ClausePlace {
    size_t offset = 0;
    size_t length = 0;
};

// What follows a probe's place and arguments.
struct ProbeClauses {
    std::vector<ConditionTerm> condition;  // run from the first; empty: none
    uint32_t sample_every = 0;             // 0: every hit
    uint32_t rate_per_second = 0;          // 0: no limit
    std::vector<TemplatePiece> name;       // empty: the probe's own
    ClausePlace name_place;
    HitMeaning meaning = HitMeaning::event;
    ClausePlace meaning_place;        // unless it is an event
    std::vector<TemplatePiece> line;  // of `state` and `track`; empty: the thread's own
    ClausePlace track_place;
    bool is_line_of_process = false;
    bool yields_to_ring = false;
    ClausePlace ring_place;
    model::PointRole role = model::PointRole::none;
    ClausePlace role_place;
    std::string raise_provider;  // empty: no semaphore but its own
    std::string raise_name;
    ClausePlace raise_place;
    size_t text_offset = 0;  // of the first clause in the text
    std::string text;        // of all of them; empty: none
};

struct ProbeSpec {
    ProbeKind kind = ProbeKind::usdt;
    std::string text;              // as the user wrote it
    std::string path;              // empty: search the target (usdt only)
    bool is_matched_file = false;  // PATH is the @ of packs, as is `path`
    std::string provider;          // usdt; tracepoint: the category
    std::string name;              // usdt, tracepoint; uprobe kinds: the symbol
    uint64_t symbol_offset = 0;
    bool is_at_calls = false;     // of kind uprobe: at what calls or jumps to the symbol
    bool has_args = false;        // "()" asks for none; no parentheses asks for the default
    size_t args_text_offset = 0;  // of the '(' in the text, if has_args
    std::vector<ArgSpec> args;
    ProbeClauses clauses;
};

// Who wrote a text: only in packs is there a matched file, @.
enum class ProbeTextOrigin : uint8_t { command_line, pack };

// Parses one -e text. A usage error's `what` holds the text with a caret line under the token.
[[nodiscard]] Result<ProbeSpec> parse_probe_spec(
    std::string_view text, ProbeTextOrigin origin = ProbeTextOrigin::command_line);

// The text of the one probe called `provider` (usdt, tracepoint) and `name` among those that `spec`
// stands for with its wildcards; of a spec without any, its own text.
[[nodiscard]] std::string probe_text(const ProbeSpec& spec,
                                     std::string_view provider,
                                     std::string_view name);

// As the grammar spells it; empty for ArgType::automatic.
[[nodiscard]] std::string_view arg_type_name(ArgType type);

// An operand, and an argument with its type and format but without its label, in one spelling.
[[nodiscard]] std::string operand_text(const ArgSpec& arg);
[[nodiscard]] std::string argument_text(const ArgSpec& arg);

// A path or name as a part of a probe's text, in quotes where it needs them: for the characters
// of the grammar, and for those of `also`.
[[nodiscard]] std::string quote_probe_part(std::string_view part, std::string_view also = {});

}  // namespace tracer
