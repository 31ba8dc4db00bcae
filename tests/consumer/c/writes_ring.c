/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program's own events in rings: needs nothing but the C library. Prints the file, which is kept.
 */
#include "tracer/ring/tracer_ring.h"

#include <stdio.h>

int main(void) {
    const tracer_ring_event *request, *queued;
    if (tracer_ring_register("http.request", TRACER_RING_SPAN, 0, &request) != 0) return 1;
    if (tracer_ring_register("queue.length", TRACER_RING_INT, 0, &queued) != 0) return 1;
    if (tracer_ring_start(&(tracer_ring_options){.directory = ".", .preserve = true}) != 0)
        return 1;
    tracer_ring_write_begin(request);
    tracer_ring_write_int(queued, 12);
    tracer_ring_write_end(request);

    char path[4096];
    if (tracer_ring_path(path, sizeof(path)) < 0) return 1;
    puts(path);
    return tracer_ring_stop() == 0 ? 0 : 1;
}
