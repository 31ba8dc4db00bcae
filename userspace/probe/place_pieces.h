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

// Whether a link failed by one of its places: by its instruction, or by its semaphore, where
// another tool holds the place without one (EINVAL).
[[nodiscard]] bool is_of_one_place(const Error& error);

// Attaches all places, at most `piece_max` together. A piece that fails by one of its places is
// halved until the place is found, which `leave_out` is then given. Of a piece that fails by
// anything else it is given all places. An error of `leave_out` ends the whole.
[[nodiscard]] Status attach_in_pieces(size_t place_count,
                                      size_t piece_max,
                                      const std::function<Status(PlaceRange)>& attach,
                                      const std::function<Status(size_t, Error)>& leave_out);

}  // namespace tracer
