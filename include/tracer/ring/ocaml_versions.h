// SPDX-License-Identifier: Apache-2.0
//
// What ids of phases and counters mean, by the version of the OCaml runtime that wrote them. The
// file of rings does not say which that was, and 5.3 gave most phases other numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tracer::ring {

// The versions 5.x that a producer may have, by x: all that is known is that it is one of them.
struct OcamlVersions {
    static constexpr uint8_t kNewest = 5;

    uint8_t oldest = 0;
    uint8_t newest = kNewest;

    // What was learned contradicts itself: the file is damaged, or of a version not known here.
    [[nodiscard]] bool is_none() const { return oldest > newest; }
    // Most names hang on this; within each of the two sides ids have only been appended.
    [[nodiscard]] bool is_known_enough() const {
        return !is_none() && (newest <= 2 || oldest >= 3);
    }
    bool operator==(const OcamlVersions&) const = default;
};

// "5.4", also "5.4.1"; nullopt: no version of which rings are known.
[[nodiscard]] std::optional<OcamlVersions> parse_ocaml_version(std::string_view text);
// What the symbols of a producer's executable (ocamlrun for bytecode) tell: each version exports
// more. Strip leaves them, because the writer's object file is always linked whole. Of 5.5 and
// later it says "5.4 or newer". Nothing is known (all versions) where it has no runtime of OCaml 5.
[[nodiscard]] OcamlVersions versions_of_symbols(
    const std::function<bool(std::string_view)>& has_symbol);
// "5.4", "5.1 to 5.2"; "unknown" when nothing or nonsense is known.
[[nodiscard]] std::string to_text(OcamlVersions versions);

// As OCaml's library prints them ("minor_local_roots"); empty: the versions do not agree, or none
// has that id. Static.
[[nodiscard]] std::string_view phase_name(OcamlVersions versions, uint32_t id);
// Counters were only ever appended: one name for all versions.
[[nodiscard]] std::string_view counter_name(uint32_t id);
[[nodiscard]] std::string_view lifecycle_name(uint32_t id);

}  // namespace tracer::ring
