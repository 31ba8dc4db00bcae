// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/model/event.h"

#include <string_view>

namespace tracer::model {

// What every format calls the causes of the model, so that a user who compares two of them reads
// the same words.
[[nodiscard]] std::string_view name_of(SpanEndCause cause);
[[nodiscard]] std::string_view name_of(LossCause cause);

}  // namespace tracer::model
