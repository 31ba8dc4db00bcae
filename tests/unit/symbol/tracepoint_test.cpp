// SPDX-License-Identifier: Apache-2.0
#include "symbol/tracefs.h"
#include "symbol/tracepoint_format.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace tracer {
namespace {

constexpr std::string_view kFormat =
    "name: example\n"
    "ID: 42\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\n"
    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:__data_loc char[] path;\toffset:24;\tsize:4;\tsigned:0;\n"
    "\tfield:__data_loc u8[] bytes;\toffset:28;\tsize:4;\tsigned:0;\n"
    "\tfield:__rel_loc char[] near;\toffset:32;\tsize:4;\tsigned:0;\n"
    "\tfield:const char * name;\toffset:40;\tsize:8;\tsigned:0;\n"
    "\tfield:struct page *page;\toffset:48;\tsize:8;\tsigned:0;\n"
    "\tfield:bool ok;\toffset:56;\tsize:1;\tsigned:0;\n"
    "\tfield:s16 delta;\toffset:58;\tsize:2;\tsigned:1;\n"
    "\tfield:u32 table[4];\toffset:60;\tsize:16;\tsigned:0;\n"
    "\tfield:struct timespec ts;\toffset:80;\tsize:16;\tsigned:0;\n"
    "\n"
    "print fmt: \"field:%s\", REC->comm\n";

TEST(TracepointFormat, ReadsEveryFormOfField) {
    auto format = parse_tracepoint_format(kFormat);
    ASSERT_TRUE(format) << format.error().what;
    EXPECT_EQ(format->name, "example");
    EXPECT_EQ(format->id, 42u);
    ASSERT_EQ(format->fields.size(), 11u);
    auto form = [&](std::string_view name) {
        auto found = std::find_if(format->fields.begin(), format->fields.end(),
                                  [&](auto& field) { return field.name == name; });
        EXPECT_NE(found, format->fields.end()) << name;
        return found == format->fields.end() ? FieldForm::other : found->form;
    };
    EXPECT_TRUE(format->fields[0].is_common);
    EXPECT_EQ(form("comm"), FieldForm::char_array);
    EXPECT_EQ(form("path"), FieldForm::data_location);
    EXPECT_EQ(form("bytes"), FieldForm::other);
    EXPECT_EQ(form("near"), FieldForm::other);
    EXPECT_EQ(form("name"), FieldForm::pointer);
    EXPECT_EQ(form("page"), FieldForm::pointer);
    EXPECT_EQ(form("ok"), FieldForm::boolean);
    EXPECT_EQ(form("delta"), FieldForm::integer);
    EXPECT_EQ(form("table"), FieldForm::other);
    EXPECT_EQ(form("ts"), FieldForm::other);
    EXPECT_EQ(format->fields[8].offset, 58u);
    EXPECT_TRUE(format->fields[8].is_signed);
}

TEST(TracepointFormat, SurvivesEveryTruncation) {
    for (size_t length = 0; length < kFormat.size(); ++length) {
        auto format = parse_tracepoint_format(kFormat.substr(0, length));
        if (format) {
            EXPECT_LE(format->fields.size(), 11u);
        }
    }
    EXPECT_FALSE(parse_tracepoint_format(""));
    EXPECT_FALSE(parse_tracepoint_format("name: x\nID: y\n"));
    EXPECT_FALSE(parse_tracepoint_format("name: x\nID: 1\n\tfield:int;\toffset:0;\tsize:4;\n"));
    EXPECT_FALSE(
        parse_tracepoint_format("name: x\nID: 1\n\tfield:int a;\toffset:99999999999;\tsize:4;\n"));
}

class TracefsTest : public ::testing::Test {
protected:
    void SetUp() override {
        auto opened = Tracefs::open();
        if (!opened) GTEST_SKIP() << "no tracefs: " << opened.error().what;
        tracefs = std::make_unique<Tracefs>(std::move(*opened));
    }
    std::unique_ptr<Tracefs> tracefs;
};

TEST_F(TracefsTest, DescribesTheSchedulersSwitch) {
    auto format = tracefs->format("sched", "sched_switch");
    ASSERT_TRUE(format) << format.error().what;
    EXPECT_EQ(format->name, "sched_switch");
    auto id = tracefs->id("sched", "sched_switch");
    ASSERT_TRUE(id);
    EXPECT_EQ(*id, format->id);
    auto names = tracefs->names("sched");
    ASSERT_TRUE(names);
    EXPECT_NE(std::find(names->begin(), names->end(), "sched_switch"), names->end());
}

TEST_F(TracefsTest, EveryFormatIsRead) {
    auto categories = tracefs->categories();
    ASSERT_TRUE(categories);
    size_t formats = 0;
    for (const auto& category : *categories) {
        auto names = tracefs->names(category);
        ASSERT_TRUE(names);
        for (const auto& name : *names) {
            auto format = tracefs->format(category, name);
            if (format) {
                ++formats;
            } else {
                EXPECT_EQ(format.error().code, ErrorCode::not_found) << format.error().what;
            }
        }
    }
    EXPECT_GT(formats, 100u);
}

TEST_F(TracefsTest, RefusesNamesThatLeadElsewhere) {
    EXPECT_EQ(tracefs->format("..", "x").error().code, ErrorCode::not_found);
    EXPECT_EQ(tracefs->format("sched", "../../x").error().code, ErrorCode::not_found);
    EXPECT_EQ(tracefs->id("sched", "nothing").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace tracer
