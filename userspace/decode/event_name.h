// SPDX-License-Identifier: Apache-2.0
//
// Names made of an event's own values: `as "query {q}"`.
#pragma once

#include "capture/probe_definition.h"
#include "tracer/model/event.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// Writes the name of one event into `out`, whose room is used again: UTF-8 in one line of at most
// model::kEventNameBytesMax bytes. A longer one is cut and ends in an ellipsis, as does a value
// that was cut in the target; what could not be read is "?". `arguments`, the point's, may name
// values. Both may be fewer than pieces ask for.
void render_name(const std::vector<NamePiece>& pieces,
                 std::span<const model::Argument> arguments,
                 std::span<const model::Value> values,
                 std::string& out);

}  // namespace tracer
