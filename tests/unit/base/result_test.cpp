// SPDX-License-Identifier: Apache-2.0
#include "tracer/base/result.h"

#include <cerrno>
#include <memory>

#include <gtest/gtest.h>

namespace tracer {
namespace {

Result<std::unique_ptr<int>> half(int value) {
    if (value % 2 != 0) return fail(ErrorCode::bad_input, "odd", "give an even number");
    return std::make_unique<int>(value / 2);
}

Result<int> quarter(int value) {
    TR_ASSIGN(auto once, half(value));
    TR_ASSIGN(const auto twice, half(*once));
    return *twice;
}

Status check_half(int value) {
    TR_TRY(half(value));
    return {};
}

TEST(Result, CarriesTheValueThrough) {
    ASSERT_TRUE(quarter(8).has_value());
    EXPECT_EQ(*quarter(8), 2);
}

TEST(Result, ReturnsTheFirstError) {
    const auto result = quarter(6);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::bad_input);
    EXPECT_EQ(result.error().hint, "give an even number");
    EXPECT_FALSE(check_half(3).has_value());
    EXPECT_TRUE(check_half(4).has_value());
}

TEST(Result, ContextComesBeforeTheFault) {
    EXPECT_EQ(Error{.what = "odd"}.within("halve 3").what, "halve 3: odd");
}

TEST(Result, ErrnoIsSpelt) {
    const Status status = fail_errno(ErrorCode::io, ENOSPC, "write /tmp/x");
    EXPECT_EQ(status.error().what, "write /tmp/x: No space left on device");
    EXPECT_EQ(status.error().sys_errno, ENOSPC);
}

TEST(Result, ExitStatusesAreThoseOfTheManual) {
    EXPECT_EQ(exit_status(ErrorCode::usage), 2);
    EXPECT_EQ(exit_status(ErrorCode::permission), 3);
    EXPECT_EQ(exit_status(ErrorCode::missing_feature), 3);
    EXPECT_EQ(exit_status(ErrorCode::not_found), 4);
    EXPECT_EQ(exit_status(ErrorCode::bad_input), 4);
    EXPECT_EQ(exit_status(ErrorCode::io), 5);
    EXPECT_EQ(exit_status(ErrorCode::limit), 5);
    EXPECT_EQ(exit_status(ErrorCode::interrupted), 130);
}

}  // namespace
}  // namespace tracer
