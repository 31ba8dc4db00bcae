// SPDX-License-Identifier: Apache-2.0
//
// Any text as a probe: it is refused with a usage error, or its parts survive being quoted.
#include "probe/probe_spec.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(data, data + size);
    auto spec = tracer::parse_probe_spec(text);
    if (!spec) {
        if (spec.error().code != tracer::ErrorCode::usage) std::abort();
        return 0;
    }
    if (spec->kind != tracer::ProbeKind::usdt || spec->path.empty()) return 0;
    auto again = tracer::parse_probe_spec("usdt:" + tracer::quote_probe_part(spec->path) + ":" +
                                          tracer::quote_probe_part(spec->provider) + ":" +
                                          tracer::quote_probe_part(spec->name));
    // A text near the length limit may pass it when quoted.
    if (size > 2000) return 0;
    if (!again || again->path != spec->path || again->name != spec->name) std::abort();
    return 0;
}
