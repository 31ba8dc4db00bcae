// SPDX-License-Identifier: Apache-2.0
//
// Attaching many places at once when the kernel may refuse some: it refuses the whole link and does
// not say which place it was.
#pragma once

#include "tracer/base/result.h"

#include <cstddef>
#include <functional>

namespace tracer {

// A run of places, by their indexes.
struct PlaceRange {
    size_t first = 0;
    size_t count = 0;
};

// Whether the kernel refused an instruction (arch/x86/kernel/uprobes.c: ENOTSUPP, ENOEXEC), as
// against the file, the process or us.
[[nodiscard]] bool is_refused_instruction(const Error& error);

// Attaches all places, at most `piece_max` together. A piece that holds a refused instruction is
// halved until the place is found, which `leave_out` is then given: an error of its own ends the
// whole, as every other error of `attach` does.
[[nodiscard]] Status attach_in_pieces(size_t place_count,
                                      size_t piece_max,
                                      const std::function<Status(PlaceRange)>& attach,
                                      const std::function<Status(size_t, Error)>& leave_out);

}  // namespace tracer
