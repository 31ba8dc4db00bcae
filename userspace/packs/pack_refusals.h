// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packs/pack_plan.h"
#include "probe/attach_plan.h"

#include <cstdint>
#include <span>

namespace tracer {

// Corrects the rows of `files`, whose probes are in `plan`, by the places that the attach left out.
// A probe that can no longer be recorded is refused; one that lost some of its places is armed, and
// its reason says so; one whose other semaphore could not be raised is silent.
void note_refused_places(std::span<PackedFile> files,
                         const AttachPlan& plan,
                         std::span<const RefusedPlace> refused);

// Corrects the rows of probes that are off because another says it too, where that one was refused.
void note_lost_replacements(std::span<PackedFile> files);

}  // namespace tracer
