// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/probe_files.h"
#include "probe/probe_spec.h"
#include "tracer/base/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tracer {

// Why a place cannot have a probe.
struct SiteHarm {
    ErrorCode code;    // missing_feature: this kernel is at fault; bad_input: the place is
    std::string what;  // the same for all places of its sort
    std::string hint;
};

// Of a probe of `spec` at that offset of the file. `allow_nop5`: 5-byte nops are known to do no
// harm (fast_sites.h).
[[nodiscard]] std::optional<SiteHarm> find_harm(const ProbeSpec& spec,
                                                const ProbeFile& file,
                                                uint64_t file_offset,
                                                bool allow_nop5);

}  // namespace tracer
