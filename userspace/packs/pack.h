// SPDX-License-Identifier: Apache-2.0
//
// A pack: what is known about a runtime or service, so that its events are recorded without being
// asked for. Read from TOML (pack_file.h), found for a file (pack_match.h). Passive data; every
// word is explained in README.md.
#pragma once

#include "packs/version_range.h"
#include "probe/event_spec.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// How much is recorded; each level holds those before it.
enum class PackLevel : uint8_t { standard, more, all };
inline constexpr size_t kPackLevels = 3;
// As packs and the command line spell them, by level.
inline constexpr std::array<std::string_view, kPackLevels> kPackLevelNames{"default", "more",
                                                                           "all"};

enum class PackStability : uint8_t {
    stable,    // documented by the runtime
    evolving,  // documented, and known to change between versions
    internal,  // no interface: symbols that may change with any version
};
inline constexpr std::array<std::string_view, 3> kPackStabilityNames{"stable", "evolving",
                                                                     "internal"};

[[nodiscard]] constexpr std::string_view name_of(PackLevel level) {
    return kPackLevelNames[static_cast<size_t>(level)];
}
[[nodiscard]] constexpr std::string_view name_of(PackStability stability) {
    return kPackStabilityNames[static_cast<size_t>(stability)];
}

// What a file must be like; empty members ask nothing. All but the last two may hold * and ?.
struct PackMatch {
    std::string provider;    // it has USDT notes of this provider
    std::string soname;      // DT_SONAME, or the base name of a file without one
    std::string executable;  // base name of a file that is a process's program
    std::string symbol;      // it defines such a function or object, as it spells it
    std::string without_provider;
    std::string section;
    std::string build_id;  // lower-case hexadecimal
    std::string code;      // it holds the bytes of Pack::code of this name, once
};

// Code that is the same in every build, by which files without symbols are recognised.
struct PackCode {
    std::string name;  // what probes may call its first byte where no symbol does
    std::vector<std::byte> bytes;
    struct Inside {
        std::string name;
        uint64_t offset = 0;
    };
    std::vector<Inside> inside;  // places in it that probes may name as well
};

// Where things lie in a runtime's memory, in builds that are known: words for probes' texts.
struct PackLayout {
    std::string name;
    VersionRange versions;
    std::string text;  // in the file's read-only data; empty: not asked
    struct Word {
        std::string name;
        std::string value;
    };
    std::vector<Word> words;  // $name stands for value
};

struct PackProbe {
    std::string name;   // unique in its pack for each version of the runtime
    std::string about;  // one line; may be empty
    PackLevel level = PackLevel::standard;
    PackStability stability = PackStability::stable;
    // Of these the first that the file has is recorded. `text` is as the pack says it, on one line.
    // Functions have the path "@", the matched file; usdt probes that or none.
    std::vector<EventSpec> events;
    VersionRange versions;  // of the runtime; others lack the probe, or give it another meaning
    std::string layout;     // its texts are those for this one; empty: they need none
    // Any one of these must be there for the probe to fire; empty: always.
    std::vector<std::string> requires_argument;     // of the process's command line
    std::vector<std::string> requires_environment;  // NAME=VALUE
    std::string without;  // said where a matched file has none of the events; may be empty
    // Another probe, before it in the pack, which says more: this one is off where that is armed.
    std::string unless;
};

struct Pack {
    std::string name;
    std::vector<std::string> aliases;  // other names that people ask for it by
    std::string runtime;               // what people call it
    std::string about;                 // one line
    uint32_t version = 1;              // of the pack
    VersionRange versions;             // of the runtime that it was made for
    std::string process_title;  // "postgres: *": names processes by what * stands for; or empty
    // The name ends behind the first of these that it has: what follows changes all the time.
    std::vector<std::string> process_title_ends;
    // Base name of a file that processes have open when they write such a log themselves, and what
    // that one has besides; or empty.
    std::string own_log;
    std::string own_log_has;
    // How the runtime's version is learned; each empty or with one "{}", the version's place.
    std::string version_path;     // in the base name; * and ? stand for what they do elsewhere
    std::string version_text;     // in the file's read-only data
    std::string version_section;  // looked for there alone; empty: in all of them
    // The newest version of which the file has the symbol; oldest first. Asked last.
    struct VersionSymbol {
        std::string version;
        std::string symbol;
    };
    std::vector<VersionSymbol> version_symbols;
    std::array<std::string, kPackLevels> cost;  // measured, in words; empty: not stated
    std::vector<PackMatch> matches;             // a file fits if one of them holds
    std::vector<PackCode> code;
    std::vector<PackLayout> layouts;  // of a file the first that fits
    std::vector<PackProbe> probes;
    std::string origin;  // kBuiltInOrigin, or the path of the file
};

inline constexpr std::string_view kBuiltInOrigin = "built in";

}  // namespace tracer
