// SPDX-License-Identifier: Apache-2.0
//
// One probe as its text says it, before any file is looked at.
//
//   usdt:[PATH:]provider:name[(args)]      u:PATH:symbol[+off][(args)]     ur:PATH:symbol[(args)]
//   span:PATH:symbol[(args)]               t:category:name[(args)]
//
//   args   := arg {"," arg}        arg := [label "="] operand [":" type]
//   operand:= argN | ret | NAME (a tracepoint's field)
//             of functions arg0 to arg5 are in registers; arg6 to arg11 are read from the stack,
//             and are whatever lies there when the function has fewer
//   type   := s8|s16|s32|s64|u8|u16|u32|u64|ptr|bool|f32|f64|str
//
// provider, name, symbol and category may hold the wildcards * and ?. A part with ':', '(' or a
// space in it is put in double quotes, in which \" and \\ stand for " and \. PATH with a '/' is a
// path as the target sees it; without one it is the base name of a file mapped by the target.
#pragma once

#include "tracer/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

enum class ProbeKind : uint8_t { usdt, uprobe, uretprobe, span, tracepoint };

enum class ArgType : uint8_t {
    automatic,  // from the USDT note, the tracepoint's format; else s64
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

struct ArgSpec {
    std::string label;    // shown name; the operand's text when none was given
    std::string operand;  // "arg0", "ret", or a tracepoint's field
    ArgType type = ArgType::automatic;
    size_t text_offset = 0;  // of the operand in the probe's text, for carets
};

struct ProbeSpec {
    ProbeKind kind = ProbeKind::usdt;
    std::string text;      // as the user wrote it
    std::string path;      // empty: search the target (usdt only)
    std::string provider;  // usdt; tracepoint: the category
    std::string name;      // usdt, tracepoint; uprobe kinds: the symbol
    uint64_t symbol_offset = 0;
    bool has_args = false;        // "()" asks for none; no parentheses asks for the default
    size_t args_text_offset = 0;  // of the '(' in the text, if has_args
    std::vector<ArgSpec> args;
};

// Parses one -e text. A usage error's `what` holds the text with a caret line under the token.
[[nodiscard]] Result<ProbeSpec> parse_probe_spec(std::string_view text);

// The text of the one probe called `provider` (usdt, tracepoint) and `name` among those that `spec`
// stands for with its wildcards; of a spec without any, its own text.
[[nodiscard]] std::string probe_text(const ProbeSpec& spec,
                                     std::string_view provider,
                                     std::string_view name);

// As the grammar spells it; empty for ArgType::automatic.
[[nodiscard]] std::string_view arg_type_name(ArgType type);

// A path or name as a part of a probe's text, in quotes where it needs them: for the characters
// of the grammar, and for those of `also`.
[[nodiscard]] std::string quote_probe_part(std::string_view part, std::string_view also = {});

}  // namespace tracer
