// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/record_view.h"

#include <cstddef>
#include <span>

namespace tracer {

// Takes records in time order: the decoder, a capture's writer, a test. The bytes die with the
// call.
class RecordHandler {
public:
    virtual ~RecordHandler() = default;
    virtual void on_record(std::span<const std::byte> record) = 0;

    // Means on_record() of each in turn; all are of a size that can be. For handlers to which a
    // call a record is a good part of their work.
    virtual void on_records(std::span<const RecordView> records) {
        for (const RecordView& view : records) on_record(view.bytes());
    }
};

}  // namespace tracer
