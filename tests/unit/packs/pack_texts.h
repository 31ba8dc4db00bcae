// SPDX-License-Identifier: Apache-2.0
//
// Small packs to be changed in one place.
#pragma once

#include <string>
#include <string_view>

namespace tracer::test {

inline constexpr std::string_view kHead =
    "[pack]\nname = \"demo\"\nruntime = \"Demo\"\nversion = 2\nabout = \"requests\"\n";
inline constexpr std::string_view kMatch = "[[match]]\nprovider = \"demo\"\n";
inline constexpr std::string_view kProbe =
    "[[probe]]\nname = \"one\"\nabout = \"one hit\"\nstability = \"stable\"\n"
    "probe = 'usdt:demo:one'\n";
inline constexpr std::string_view kCost = "[cost]\ndefault = \"nothing\"\n";

inline std::string with(std::string_view a,
                        std::string_view b = {},
                        std::string_view c = {},
                        std::string_view d = {}) {
    return std::string(a).append(b).append(c).append(d);
}

// A pack called `name` that the files of one match fit.
inline std::string matching(std::string_view match, std::string_view name = "demo") {
    return "[pack]\nname = \"" + std::string(name) +
           "\"\nruntime = \"Demo\"\nversion = 1\nabout = \"x\"\n" + std::string(match) +
           std::string(kProbe) + std::string(kCost);
}

}  // namespace tracer::test
