// SPDX-License-Identifier: Apache-2.0
//
// Which packs a file is of. Called where a recording looks at what its processes have mapped, and
// by `tracer packs NAME --pid`.
#include "packs/pack_match.h"

#include "packs/file_traits.h"
#include "probe/wildcard.h"

#include <algorithm>

namespace tracer {

namespace {

// The cheapest question first: name, sections, notes, symbols, and code last.
bool holds(const Pack& pack, const PackMatch& match, FileTraits& file, bool is_executable) {
    const auto is_asked = [](const std::string& member) { return !member.empty(); };
    if (is_asked(match.executable)) {
        if (!is_executable || !wildcard_matches(match.executable, file.name())) return false;
    }
    if (is_asked(match.section) && !file.has_section(match.section)) return false;
    if (is_asked(match.soname) && !file.has_soname(match.soname)) return false;
    if (is_asked(match.build_id) && !file.has_build_id(match.build_id)) return false;
    if (is_asked(match.provider) && !file.has_provider(match.provider)) return false;
    if (is_asked(match.without_provider) && file.has_provider(match.without_provider)) {
        return false;
    }
    if (is_asked(match.symbol) && !file.defines(match.symbol)) return false;
    if (!is_asked(match.code)) return true;
    const auto code = std::ranges::find(pack.code, match.code, &PackCode::name);
    return code != pack.code.end() && file.holds_code(code->bytes);
}

// How much of the file has to be read to answer.
size_t cost_of(const PackMatch& match) {
    if (!match.code.empty()) return 2;
    return match.symbol.empty() ? 0 : 1;
}

bool fits(const Pack& pack, FileTraits& file, bool is_executable) {
    // Those that ask for symbols or code come last: for a file that another fits they are not
    // asked.
    for (const size_t cost : {0, 1, 2}) {
        for (const auto& match : pack.matches) {
            if (cost_of(match) == cost && holds(pack, match, file, is_executable)) return true;
        }
    }
    return false;
}

}  // namespace

std::vector<PackFit> find_packs(const PackCatalog& catalog, ProbeFile& file, bool is_executable) {
    std::vector<PackFit> found;
    FileTraits traits(file);
    for (const auto& pack : catalog.packs()) {
        if (fits(pack, traits, is_executable)) {
            found.push_back({&pack, find_runtime_version(pack, file)});
        }
    }
    return found;
}

bool fits(const Pack& pack, ProbeFile& file, bool is_executable) {
    FileTraits traits(file);
    return fits(pack, traits, is_executable);
}

}  // namespace tracer
