// SPDX-License-Identifier: Apache-2.0
//
// The kernel's report of a mapping, byte by byte as perf_event_open(2) lays it out.
#include "probe/mapping_watch.h"

#include <cstring>
#include <linux/perf_event.h>
#include <string_view>

#include <gtest/gtest.h>

namespace tracer {
namespace {

template <typename T>
void put(std::vector<std::byte>& out, T value) {
    const size_t at = out.size();
    out.resize(at + sizeof(value));
    std::memcpy(out.data() + at, &value, sizeof(value));
}

struct Record {
    std::string_view path = "/usr/bin/app";
    uint16_t misc = PERF_RECORD_MISC_USER;
    uint64_t inode = 77;

    [[nodiscard]] std::vector<std::byte> bytes() const {
        std::vector<std::byte> out;
        put(out, perf_event_header{PERF_RECORD_MMAP2, misc, 0});
        put(out, uint32_t{40});              // pid
        put(out, uint32_t{41});              // tid
        put(out, uint64_t{0x7f0000001000});  // address
        put(out, uint64_t{0x3000});          // length
        put(out, uint64_t{0x1000});          // page offset
        put(out, uint32_t{8});               // major
        put(out, uint32_t{1});               // minor
        put(out, inode);
        put(out, uint64_t{5});  // generation
        put(out, uint32_t{5});  // protection
        put(out, uint32_t{2});  // flags
        std::string name(path);
        name.resize((name.size() + 8) / 8 * 8);
        for (const char c : name) put(out, c);
        put(out, uint64_t{123456789});  // PERF_SAMPLE_TIME
        const auto size = static_cast<uint16_t>(out.size());
        std::memcpy(out.data() + offsetof(perf_event_header, size), &size, sizeof(size));
        return out;
    }
};

TEST(MappingRecord, GivesEveryField) {
    const auto mapping = parse_mapping_record(Record{}.bytes());
    ASSERT_TRUE(mapping);
    EXPECT_EQ(mapping->pid, 40u);
    EXPECT_EQ(mapping->tid, 41u);
    EXPECT_EQ(mapping->start, 0x7f0000001000u);
    EXPECT_EQ(mapping->end, 0x7f0000004000u);
    EXPECT_EQ(mapping->device_major, 8u);
    EXPECT_EQ(mapping->device_minor, 1u);
    EXPECT_EQ(mapping->inode, 77u);
    EXPECT_EQ(mapping->generation, 5u);
    EXPECT_EQ(mapping->path, "/usr/bin/app");
    EXPECT_EQ(mapping->time_ns, 123456789u);
}

TEST(MappingRecord, ANameOfAWholeNumberOfWordsKeepsItsEnd) {
    const auto mapping = parse_mapping_record(Record{.path = "/1234567"}.bytes());
    ASSERT_TRUE(mapping);
    EXPECT_EQ(mapping->path, "/1234567");
}

TEST(MappingRecord, LeavesOutTheMarkOfADeletedFile) {
    const auto mapping = parse_mapping_record(Record{.path = "/usr/bin/app (deleted)"}.bytes());
    ASSERT_TRUE(mapping);
    EXPECT_EQ(mapping->path, "/usr/bin/app");
}

TEST(MappingRecord, WhatIsNoFileIsNone) {
    EXPECT_FALSE(parse_mapping_record(Record{.path = "//anon"}.bytes()));
    EXPECT_FALSE(parse_mapping_record(Record{.path = "[vdso]"}.bytes()));
    EXPECT_FALSE(parse_mapping_record(Record{.inode = 0}.bytes()));
    // A build-id in place of the inode: not asked for, so not understood.
    EXPECT_FALSE(parse_mapping_record(Record{.misc = PERF_RECORD_MISC_MMAP_BUILD_ID}.bytes()));
}

TEST(MappingRecord, RefusesEveryCut) {
    const auto whole = Record{}.bytes();
    for (size_t bytes = 0; bytes < whole.size(); bytes++) {
        // Where the cut leaves the padding, the end of the name is taken for the time: no fault
        // that anyone could see, and nothing outside of the record is read.
        const auto mapping = parse_mapping_record(std::span(whole).first(bytes));
        if (bytes < 72 + Record{}.path.size() + 1 + sizeof(uint64_t)) {
            EXPECT_FALSE(mapping) << bytes;
        }
    }
}

TEST(MappingRecord, RefusesAnotherKind) {
    auto bytes = Record{}.bytes();
    const uint32_t type = PERF_RECORD_COMM;
    std::memcpy(bytes.data(), &type, sizeof(type));
    EXPECT_FALSE(parse_mapping_record(bytes));
}

}  // namespace
}  // namespace tracer
