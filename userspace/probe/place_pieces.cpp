// SPDX-License-Identifier: Apache-2.0
//
// The search for places where the kernel puts no probe, or not ours. Relies on a failed link
// leaving nothing behind. Called by the kernel recorder; tests run it over a made-up kernel.
#include "probe/place_pieces.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

namespace tracer {

bool is_refused_instruction(const Error& error) {
    constexpr int kNotSupported = 524;  // ENOTSUPP: the kernel's own, errno.h has no name for it
    return error.sys_errno == kNotSupported || error.sys_errno == ENOEXEC;
}

bool is_of_one_place(const Error& error) {
    return is_refused_instruction(error) || error.sys_errno == EINVAL;
}

Status attach_in_pieces(size_t place_count,
                        size_t piece_max,
                        const std::function<Status(PlaceRange)>& attach,
                        const std::function<Status(size_t, Error)>& leave_out) {
    TR_CHECK(piece_max > 0);
    std::vector<PlaceRange> open;
    for (size_t first = 0; first < place_count; first += piece_max) {
        open.push_back({first, std::min(piece_max, place_count - first)});
    }
    std::reverse(open.begin(), open.end());
    // Ends: each turn takes a range away, and puts back none or two smaller ones.
    while (!open.empty()) {
        const PlaceRange piece = open.back();
        open.pop_back();
        auto attached = attach(piece);
        if (attached) continue;
        if (piece.count == 1 || !is_of_one_place(attached.error())) {
            for (size_t i = 0; i < piece.count; ++i) {
                TR_TRY(leave_out(piece.first + i, attached.error()));
            }
            continue;
        }
        const size_t half = piece.count / 2;
        open.push_back({piece.first + half, piece.count - half});
        open.push_back({piece.first, half});
    }
    return {};
}

}  // namespace tracer
