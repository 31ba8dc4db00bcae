// SPDX-License-Identifier: Apache-2.0
//
// Files of rings of real OCaml programs, with what OCaml's own library reads from them:
// data/README.md.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::test {

struct RingSample {
    std::string version;  // "5.4.1"
    std::string name;     // "basic"
};

// All of them, by version and name.
[[nodiscard]] std::vector<RingSample> ring_samples();

[[nodiscard]] std::vector<std::byte> read_sample(const RingSample& sample);

// The lines of its expected text.
[[nodiscard]] std::vector<std::string> expected_lines(const RingSample& sample);

}  // namespace tracer::test
