// SPDX-License-Identifier: Apache-2.0
//
// Where raw records come from: the kernel's rings, a capture file, a test's fake.
#pragma once

#include "capture/record_view.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracer {

// One ordered stream for each ring. One consuming thread.
class RecordSource {
public:
    virtual ~RecordSource() = default;

    [[nodiscard]] virtual size_t ring_count() const = 0;

    // Appends up to `count_max` of the ring's records that lie behind those already peeked,
    // oldest first, to `out`. They stay valid until release().
    virtual void peek(size_t ring, size_t count_max, std::vector<RecordView>& out) = 0;

    // The first `count` peeked records of the ring are done with; later ones stay peeked.
    virtual void release(size_t ring, size_t count) = 0;

    // Attempts of the ring that the producer knows to have lost, so far. Read it after a peek()
    // that found nothing more: if it has advanced past what gaps explained, a gap begins at the
    // ring's last record.
    [[nodiscard]] virtual uint64_t lost(size_t ring) const = 0;
};

}  // namespace tracer
