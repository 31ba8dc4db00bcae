// SPDX-License-Identifier: Apache-2.0
#include "probe/caret.h"

#include "probe/event_spec.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace tracer {
namespace {

// The token that an error about `part` points at, in the whole text.
std::string token_of(std::string_view text, std::string_view part, size_t offset, size_t length) {
    const auto error = fail_at(part, offset, length, "wrong").value();
    const auto caret = find_caret(error, text);
    if (!caret) return "none";
    EXPECT_EQ(caret->message, "wrong");
    return std::string(text.substr(caret->offset, caret->length));
}

TEST(Caret, LeadsBackToItsToken) {
    EXPECT_EQ(token_of("u:a:f", "u:a:f", 2, 1), "a");
    EXPECT_EQ(token_of("u:a:f", "u:a:f", 4, 1), "f");
    EXPECT_EQ(token_of("u:a:f", "u:a:f", 5, 1), "");
}

TEST(Caret, LeadsBackIntoTheWholeOfAPart) {
    EXPECT_EQ(token_of("u:a:f ~~ u:a:gh", "u:a:gh", 4, 2), "gh");
}

TEST(Caret, LeadsBackBehindWhatIsWiderThanAColumn) {
    EXPECT_EQ(token_of("u:\xc3\xa4\xc3\xb6:f\xc3\xbcx", "u:\xc3\xa4\xc3\xb6:f\xc3\xbcx", 7, 4),
              "f\xc3\xbcx");
    EXPECT_EQ(token_of("u:a:\tf", "u:a:\tf", 5, 1), "f");
}

TEST(Caret, LeadsNowhereForErrorsWithoutOne) {
    EXPECT_FALSE(find_caret({ErrorCode::usage, 0, "too long", {}}, "u:a:f"));
    EXPECT_FALSE(find_caret({ErrorCode::usage, 0, "a\nb", {}}, "u:a:f"));
    EXPECT_EQ(token_of("u:a:f", "another text", 0, 1), "none");
}

TEST(Caret, LeadsBackFromWhatAParserRefuses) {
    const std::string text = "usdt:a:b(x=arg0) ~~ usdt:a:c(y=arg0:strr)";
    const auto event = parse_event_spec(text);
    ASSERT_FALSE(event);
    const auto caret = find_caret(event.error(), text);
    ASSERT_TRUE(caret);
    EXPECT_EQ(text.substr(caret->offset, caret->length), "strr");
}

}  // namespace
}  // namespace tracer
