// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packs/pack.h"
#include "packs/pack_problems.h"
#include "packs/table_reader.h"
#include "packs/toml_document.h"

namespace tracer {

// One [[probe]].
[[nodiscard]] PackProbe read_pack_probe(const TomlValue& table, PackProblems& problems);

// The word `versions` of a table; open when it is not there.
[[nodiscard]] VersionRange read_versions(TableReader& table, PackProblems& problems);

}  // namespace tracer
