// SPDX-License-Identifier: Apache-2.0
//
// A program compiled and run in a newer Debian release (scripts/oracle), which lives in a root of
// its own too.
#pragma once

#include "support/fixtures/temp_folder.h"

#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace tracer::test {

// By the release's name.
class OracleProgram : public testing::TestWithParam<const char*> {
protected:
    // Puts the source into the program's folder, which is /mnt in the release, and compiles it
    // there; skips the test where Debian's archive is out of reach.
    void compile_with(const std::string& compiler, std::string_view name, std::string_view source);

    // A shell's command for `what` in the release, which the shell becomes.
    [[nodiscard]] std::string command(const std::string& what) const;
    [[nodiscard]] std::string file(std::string_view name) const { return folder_->file(name); }

private:
    std::optional<TempFolder> folder_;
};

}  // namespace tracer::test
