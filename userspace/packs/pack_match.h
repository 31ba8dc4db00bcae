// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packs/pack.h"
#include "packs/pack_catalog.h"
#include "probe/probe_files.h"

#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// A pack that a file is of.
struct PackFit {
    const Pack* pack = nullptr;  // of the catalog
    std::string version;         // of the runtime; empty: not known
};

// The packs that a file fits, in the order of their names. Asked from the cheapest question on:
// name, sections, notes, symbols; no more of the file is read than they need. What cannot be read
// of a file does not fit. `is_executable`: it is the program of a process (/proc/PID/exe), not
// one of its libraries.
[[nodiscard]] std::vector<PackFit> find_packs(const PackCatalog& catalog,
                                              ProbeFile& file,
                                              bool is_executable);

// The same of one pack: whether the file fits.
[[nodiscard]] bool fits(const Pack& pack, ProbeFile& file, bool is_executable);

// The version of the runtime that a file which fits the pack is of; empty: it cannot be told.
[[nodiscard]] std::string find_runtime_version(const Pack& pack, ProbeFile& file);

}  // namespace tracer
