// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

namespace tracer::test {

// Each writes one C source for generated_matrix (see generated.h).
void write_notes(std::ostream& out);  // operand texts written out
void write_types(std::ostream& out);  // operands chosen by the compiler

// Opens both kinds of source.
inline constexpr const char* kSourceHead =
    "/* SPDX-License-Identifier: Apache-2.0 */\n"
    "/* Written by matrix_generator; not kept. */\n"
    "#include \"generated.h\"\n\n";

}  // namespace tracer::test
