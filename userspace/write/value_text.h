// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/model/event.h"

#include <string>

namespace tracer {

// A value that is no text, as messages and names show it; '?' for one that could not be read.
void append_number(std::string& out, const model::Value& value);

}  // namespace tracer
