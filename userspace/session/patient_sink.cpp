// SPDX-License-Identifier: Apache-2.0
//
// Turns "no room now" into waiting. A sink does not tell when it has room, so it is asked again
// every millisecond: of a buffer of a megabyte that is below a thousandth of the time. Ends
// because a sink either writes its buffers out or reports the error that stops it; a reader that
// never reads keeps the user's ^C as its end.
#include "session/patient_sink.h"

#include <chrono>
#include <thread>

namespace tracer {

std::span<std::byte> PatientSink::reserve(size_t bytes) {
    std::span<std::byte> room = sink_->reserve(bytes);
    while (room.empty() && sink_->health()) {
        sink_->flush();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        room = sink_->reserve(bytes);
    }
    return room;
}

}  // namespace tracer
