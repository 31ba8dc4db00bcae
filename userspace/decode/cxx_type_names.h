// SPDX-License-Identifier: Apache-2.0
//
// Names of C++ types as the source has them: what a type_info holds ("St13runtime_error") is
// mangled by the Itanium C++ ABI, 5.1.5.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace tracer {

// Remembers a bounded number of names: programs throw the same few types again and again.
class CxxTypeNames {
public:
    // "std::runtime_error". What is no type's name, or asks for too much work, comes back as it is.
    // Valid until make_room(), as `mangled` must be.
    [[nodiscard]] std::string_view name_of(std::string_view mangled);

    // Before each hit: forgets all names when there is no room for as many as a hit may have.
    void make_room();

private:
    struct Hash {
        using is_transparent = void;
        size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };

    std::unordered_map<std::string, std::string, Hash, std::equal_to<>> known_;
};

}  // namespace tracer
