// SPDX-License-Identifier: Apache-2.0
//
// Compares a text with one in tests/golden/fxt. With TRACER_UPDATE_GOLDENS set to a folder the
// actual text is written there instead; scripts/update_goldens does that.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace tracer::test {

inline void expect_golden(const std::string& name, const std::string& actual) {
    if (const char* folder = std::getenv("TRACER_UPDATE_GOLDENS")) {
        std::ofstream(std::string(folder) + "/fxt/" + name) << actual;
        GTEST_SKIP() << "golden written, not compared";
    }
    std::ifstream stream(std::string(TRACER_GOLDEN_FOLDER) + "/" + name);
    ASSERT_TRUE(stream.good()) << "no golden " << name;
    const std::string expected{std::istreambuf_iterator<char>(stream), {}};
    EXPECT_EQ(actual, expected) << "if this is meant: scripts/update_goldens";
}

}  // namespace tracer::test
