// SPDX-License-Identifier: Apache-2.0
//
// The sites as a C++ program, and those that only C++ has: scoped enumerations, references,
// templates and inline functions that two files contain and the linker keeps once.
#include "usdt_sites.h"

#include "usdt_sites_inline.h"

#include <string>

namespace sites {

enum class Small : unsigned char { zero, one };
enum class Wide : long { zero, minus = -1 };

// In a namespace, as programs have it; the name in the file has none.
TRACER_SEMAPHORE(sites, in_namespace)

SITE void cxx_types(Small small, Wide wide, const int& reference, const std::string& text) {
    TRACER_PROBE(sites, cxx_types, small, wide, reference, text.c_str(), text.size(), nullptr, u'x',
                 char32_t{1});
    TRACER_PROBE_WITH_SEMAPHORE(sites, in_namespace, small);
}

}  // namespace sites

int main(int argc, char**) {
    sites::cxx_types(sites::Small::one, sites::Wide::minus, argc, "text");
    sites::in_two_files(argc);
    sites::in_template(static_cast<short>(argc));
    sites::in_template(static_cast<unsigned long>(argc));
    sites::other_file(argc);
    return run_sites(argc);
}
