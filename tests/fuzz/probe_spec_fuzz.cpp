// SPDX-License-Identifier: Apache-2.0
//
// Any text as a probe: it is refused with a usage error, or its parts survive being quoted and its
// arguments being spelled in their one way.
#include "probe/probe_spec.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

// The one spelling of an argument means the same again.
void check_arguments(const tracer::ProbeSpec& spec) {
    const std::string_view kind = spec.kind == tracer::ProbeKind::usdt         ? "usdt:a:b("
                                  : spec.kind == tracer::ProbeKind::tracepoint ? "t:a:b("
                                  : spec.kind == tracer::ProbeKind::uprobe     ? "u:a:b("
                                  : spec.kind == tracer::ProbeKind::uretprobe  ? "ur:a:b("
                                                                               : "span:a:b(";
    for (const auto& arg : spec.args) {
        const auto text = argument_text(arg);
        const auto again = tracer::parse_probe_spec(std::string(kind) + "x=" + text + ")");
        if (!again || again->args.size() != 1 || argument_text(again->args[0]) != text) {
            std::abort();
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(data, data + size);
    auto spec = tracer::parse_probe_spec(text);
    if (!spec) {
        if (spec.error().code != tracer::ErrorCode::usage) std::abort();
        return 0;
    }
    // A text near the length limit may pass it when spelled or quoted.
    if (size > 2000) return 0;
    check_arguments(*spec);
    if (spec->kind != tracer::ProbeKind::usdt || spec->path.empty()) return 0;
    auto again = tracer::parse_probe_spec("usdt:" + tracer::quote_probe_part(spec->path) + ":" +
                                          tracer::quote_probe_part(spec->provider) + ":" +
                                          tracer::quote_probe_part(spec->name));
    if (!again || again->path != spec->path || again->name != spec->name) std::abort();
    return 0;
}
