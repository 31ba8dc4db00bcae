// SPDX-License-Identifier: Apache-2.0
//
// The folder of the program is /mnt in the release's root.
#include "root/oracle_program.h"

#include "root/oracle.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/tracer_run.h"

#include <cstdlib>

#include <fmt/format.h>

namespace tracer::test {

void OracleProgram::compile_with(const std::string& compiler,
                                 std::string_view name,
                                 std::string_view source) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    TR_REQUIRE_RELEASE(GetParam());
    if (!folder_) {
        auto made = TempFolder::make();
        ASSERT_TRUE(made) << made.error().what;
        folder_.emplace(std::move(*made));
    }
    ASSERT_TRUE(write_file(file(name), source));
    const int status = std::system((command(compiler) + " >" + file("said") + " 2>&1").c_str());
    ASSERT_EQ(status, 0) << read_file(file("said")).value_or("");
}

std::string OracleProgram::command(const std::string& what) const {
    return fmt::format("cd {} && exec {} {} {}", folder_->path().string(), TRACER_ORACLE,
                       GetParam(), what);
}

}  // namespace tracer::test
