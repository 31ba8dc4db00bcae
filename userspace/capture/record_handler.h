// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace tracer {

// Takes records in time order: the decoder, a capture's writer, a test. The bytes die with the
// call.
class RecordHandler {
public:
    virtual ~RecordHandler() = default;
    virtual void on_record(std::span<const std::byte> record) = 0;
};

}  // namespace tracer
