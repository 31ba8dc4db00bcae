// SPDX-License-Identifier: Apache-2.0
//
// Programs of a newer Debian release, which lives in a root of its own (scripts/oracle).
#pragma once

#include "tracer/base/result.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tracer::test {

// The folder of the release, which is laid first if it is not. not_found: Debian's archive is out
// of reach.
[[nodiscard]] Result<std::string> release_folder(const std::string& release);

// Why a test cannot have it, in words for the report; nothing: it is there, or cannot be made,
// which is no reason to skip.
[[nodiscard]] std::optional<std::string> missing_release(const std::string& release);

// `command` in the release; `folder` of this machine is its /mnt. The process stays the one that
// is started.
[[nodiscard]] std::vector<std::string> in_release(const std::string& release,
                                                  const std::string& folder,
                                                  const std::vector<std::string>& command);

}  // namespace tracer::test

#define TR_REQUIRE_RELEASE(release)                                          \
    do {                                                                     \
        if (const auto missing = ::tracer::test::missing_release(release)) { \
            GTEST_SKIP() << *missing;                                        \
        }                                                                    \
    } while (0)
