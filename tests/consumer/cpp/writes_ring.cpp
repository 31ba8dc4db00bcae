// SPDX-License-Identifier: Apache-2.0
//
// Typed events and spans by scope, over the rings in C. Prints the file, which is kept.
#include "tracer/ring/typed_events.h"

#include <cstdio>

struct Sample {
    int batch;
    float load;
};

int main() {
    static const tracer::ring::SpanEvent request("http.request");
    static const tracer::ring::IntEvent queued("queue.length");
    static const tracer::ring::CustomEvent<Sample> sample("sample");
    if (request.error() != 0 || queued.error() != 0 || sample.error() != 0) return 1;
    tracer_ring_options options{};
    options.directory = ".";
    options.preserve = true;
    const tracer::ring::Rings rings(options);
    if (rings.error() != 0) return 1;
    {
        const tracer::ring::Span span(request);
        queued.write(12);
        sample.write({1, 0.5F});
    }
    std::puts(tracer::ring::rings_path().c_str());
    return 0;
}
