// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packs/pack.h"
#include "packs/pack_problems.h"
#include "packs/toml_document.h"

#include <span>

namespace tracer {

// [[code]] and [[layout]], each with its faults at their places.
[[nodiscard]] PackCode read_pack_code(const TomlValue& table, PackProblems& problems);
[[nodiscard]] PackLayout read_pack_layout(const TomlValue& table, PackProblems& problems);

// Whether a text of the table's `probe` has words of layouts.
[[nodiscard]] bool asks_for_layout(const TomlValue& probe_table);

// The same table with the layout's words in the texts of its `probe`. A word that it lacks is a
// problem.
[[nodiscard]] TomlValue with_layout(const TomlValue& probe_table,
                                    const PackLayout& layout,
                                    PackProblems& problems);

}  // namespace tracer
