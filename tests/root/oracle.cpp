// SPDX-License-Identifier: Apache-2.0
//
// Runs scripts/oracle, whose path comes from CMake (TRACER_ORACLE). Used by the tests of runtimes
// that Debian 12 has in older versions only.
#include "root/oracle.h"

#include "support/fixtures/child_process.h"

#include <fmt/format.h>

namespace tracer::test {

Result<std::string> release_folder(const std::string& release) {
    constexpr Milliseconds kLimit{1'200'000};  // it may have to be laid
    constexpr ExitStatus kOutOfReach{.code = 77, .signal = 0};
    TR_ASSIGN(auto oracle, ChildProcess::start({TRACER_ORACLE, release}));
    const auto folder = oracle.read_line(kLimit);
    TR_ASSIGN(const ExitStatus status, oracle.wait(kLimit));
    if (status == kOutOfReach) {
        return fail(ErrorCode::not_found,
                    fmt::format("Debian {} cannot be laid: no archive", release));
    }
    if (status != ExitStatus{} || !folder) return fail(ErrorCode::bad_input, oracle.errors());
    return *folder;
}

std::optional<std::string> missing_release(const std::string& release) {
    const auto folder = release_folder(release);
    if (folder || folder.error().code != ErrorCode::not_found) return std::nullopt;
    return folder.error().what;
}

std::vector<std::string> in_release(const std::string& release,
                                    const std::string& folder,
                                    const std::vector<std::string>& command) {
    std::vector<std::string> whole{
        "/bin/sh", "-c", "cd \"$1\" && shift && exec \"$@\"", "sh", folder, TRACER_ORACLE, release};
    whole.insert(whole.end(), command.begin(), command.end());
    return whole;
}

}  // namespace tracer::test
