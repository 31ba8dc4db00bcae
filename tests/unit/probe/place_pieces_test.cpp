// SPDX-License-Identifier: Apache-2.0
#include "probe/place_pieces.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace tracer {
namespace {

constexpr int kNotSupported = 524;

// A kernel that refuses a link for one place in it.
struct FakeKernel {
    std::set<size_t> refused;
    std::vector<size_t> attached;
    std::vector<size_t> left_out;
    size_t links = 0;
    size_t piece_max = 0;

    Status attach(PlaceRange piece) {
        piece_max = std::max(piece_max, piece.count);
        for (size_t i = 0; i < piece.count; ++i) {
            if (refused.contains(piece.first + i)) {
                return fail_errno(ErrorCode::bad_input, kNotSupported, "attach");
            }
        }
        ++links;
        for (size_t i = 0; i < piece.count; ++i) attached.push_back(piece.first + i);
        return {};
    }

    Status run(size_t count, size_t piece_max_wanted) {
        return attach_in_pieces(
            count, piece_max_wanted, [this](PlaceRange piece) { return attach(piece); },
            [this](size_t place, const Error&) -> Status {
                left_out.push_back(place);
                return {};
            });
    }
};

TEST(PlacePieces, TakesOneLinkWhenAllIsWell) {
    FakeKernel kernel;
    ASSERT_TRUE(kernel.run(1000, 1000));
    EXPECT_EQ(kernel.links, 1u);
    EXPECT_EQ(kernel.attached.size(), 1000u);
    EXPECT_TRUE(kernel.run(0, 1000));
    EXPECT_EQ(kernel.links, 1u);
}

TEST(PlacePieces, LeavesOutJustThePlacesThatAreRefused) {
    FakeKernel kernel{.refused = {0, 17, 18, 999}};
    ASSERT_TRUE(kernel.run(1000, 1000));
    EXPECT_EQ(kernel.left_out, (std::vector<size_t>{0, 17, 18, 999}));
    EXPECT_EQ(kernel.attached.size(), 996u);
    EXPECT_TRUE(std::is_sorted(kernel.attached.begin(), kernel.attached.end()));
    EXPECT_LT(kernel.links, 60u);
}

TEST(PlacePieces, KeepsPiecesWithinTheirLimit) {
    FakeKernel kernel{.refused = {5}};
    ASSERT_TRUE(kernel.run(100, 8));
    EXPECT_EQ(kernel.piece_max, 8u);
    EXPECT_EQ(kernel.attached.size(), 99u);
}

// A semaphore that another tool does not raise is at fault in one place, the file's rights in all:
// halving would ask for each of them, 15 ms a link.
TEST(PlacePieces, LooksForThePlaceOnlyWhereOneCanBeAtFault) {
    for (const auto& [error, links] : {std::pair{EINVAL, 4u}, std::pair{EPERM, 1u}}) {
        size_t asked = 0;
        std::vector<size_t> left_out;
        const auto attach = [&, sys_errno = error](PlaceRange piece) -> Status {
            if (piece.first > 0) return {};
            ++asked;
            return fail_errno(ErrorCode::bad_input, sys_errno, "attach");
        };
        const auto leave_out = [&](size_t place, const Error&) -> Status {
            left_out.push_back(place);
            return {};
        };
        ASSERT_TRUE(attach_in_pieces(8, 8, attach, leave_out));
        EXPECT_EQ(asked, links);
        EXPECT_EQ(left_out.size(), error == EINVAL ? 1u : 8u);
    }
}

TEST(PlacePieces, EndsAtErrorsOfAnotherKindAndWhenToldTo) {
    size_t asked = 0;
    const auto broken = [&asked](PlaceRange) -> Status {
        ++asked;
        return fail_errno(ErrorCode::permission, EPERM, "attach");
    };
    const auto refused = [&asked](PlaceRange) -> Status {
        ++asked;
        return fail_errno(ErrorCode::bad_input, ENOEXEC, "attach");
    };
    const auto pass_on = [](size_t, Error error) -> Status {
        return tl::unexpected(std::move(error));
    };
    EXPECT_EQ(attach_in_pieces(8, 8, broken, pass_on).error().code, ErrorCode::permission);
    EXPECT_EQ(asked, 1u);
    asked = 0;
    EXPECT_EQ(attach_in_pieces(8, 8, refused, pass_on).error().sys_errno, ENOEXEC);
    EXPECT_EQ(asked, 4u);  // 8, 4, 2, 1
}

}  // namespace
}  // namespace tracer
