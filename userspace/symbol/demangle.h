// SPDX-License-Identifier: Apache-2.0
//
// Names of functions as their source calls them, from what the compiler made of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tracer {

// Longer symbols are left as they are, and so is one whose name would be longer than this: both are
// untrusted, and a mangled name can stand for a text exponentially longer than itself.
inline constexpr size_t kMangledBytesMax = 4096;
inline constexpr size_t kDemangledBytesMax = 16384;

struct DemangledName {
    // "ns::Class::method(int) const", "core::fmt::Formatter::write_str", "GHC.Base.map",
    // "Stdlib.List.map_123". C++ without the return type that templates have.
    std::string full;
    // Without what tells overloads apart: parameters of C++, numbers of OCaml. Equal to `full` in
    // the other languages. What a compiler puts behind a clone stays (".cold", ".constprop.0"): it
    // is another function.
    std::string bare;
};

// Where the symbol comes from, as far as it changes what it means.
struct DemangleContext {
    // Of a program or library of GHC: there "Main_main_info" is Main.main. Elsewhere only symbols
    // with an encoded dot in their module ("GHCziBase") are taken for Haskell's.
    bool is_haskell = false;
};

// nullopt: not mangled in a way that is known here (C++ of the Itanium ABI, Rust legacy and v0,
// Haskell of GHC, OCaml 4 and 5), malformed, or too long. Thread-safe.
[[nodiscard]] std::optional<DemangledName> demangle(std::string_view symbol,
                                                    const DemangleContext& context = {});

// Each language alone; nullopt as above.
[[nodiscard]] std::optional<DemangledName> demangle_haskell(std::string_view symbol,
                                                            const DemangleContext& context);
[[nodiscard]] std::optional<DemangledName> demangle_ocaml(std::string_view symbol);

}  // namespace tracer
