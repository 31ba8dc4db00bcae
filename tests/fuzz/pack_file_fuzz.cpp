// SPDX-License-Identifier: Apache-2.0
//
// Any text as a pack: it is refused with places that lie in it, or gives a pack that keeps what
// readers of packs rely on.
#include "packs/pack_file.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

void check_problem(const tracer::PackProblem& problem, std::string_view text) {
    const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
    require(problem.line >= 1 && problem.line <= lines);
    require(problem.column >= 1 && problem.column <= text.size() + 1);
    require(problem.error.code == tracer::ErrorCode::usage);
    require(problem.error.what.find("\n  ") != std::string::npos);
}

void check(const tracer::Pack& pack) {
    require(tracer::is_pack_name(pack.name));
    require(!pack.runtime.empty() && pack.version != 0);
    require(!pack.matches.empty() && !pack.probes.empty());
    for (const auto& probe : pack.probes) {
        require(!probe.name.empty() && !probe.events.empty());
        for (const auto& event : probe.events) {
            require(event.text.find_first_of("\r\n") == std::string::npos);
        }
    }
    const auto& versions = pack.versions;
    require(versions.is_open() || tracer::parse_version_range(versions.text()) == versions);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(data, data + size);
    const auto result = tracer::check_pack(text, "fuzz");
    bool is_refused = false;
    for (const auto& problem : result.problems) {
        check_problem(problem, text);
        is_refused = is_refused || !problem.is_warning;
    }
    require(result.pack.has_value() != is_refused);
    if (result.pack) check(*result.pack);
    return 0;
}
