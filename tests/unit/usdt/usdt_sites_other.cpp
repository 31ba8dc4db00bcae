// SPDX-License-Identifier: Apache-2.0
//
// A second file with the same inline functions: the linker drops one copy, and with it its note.
#include "usdt_sites_inline.h"

void sites::other_file(int x) {
    in_two_files(x);
    in_template(static_cast<short>(x));
}
