// SPDX-License-Identifier: Apache-2.0
//
// How fxt_reader.cpp takes a file apart; not for tests.
#pragma once

#include "support/fxt_reader.h"

#include <array>
#include <optional>
#include <unordered_map>

namespace tracer::test {

// The words of one record, read front to back. A read past the end gives 0 and sets `overran`.
class FxtWords {
public:
    explicit FxtWords(std::span<const std::byte> bytes) : bytes_(bytes) {}
    [[nodiscard]] uint64_t next();
    // `length` bytes and the padding after them; `padding_is_zero` becomes false if it is not.
    [[nodiscard]] std::string_view text(size_t length);
    [[nodiscard]] bool at_end() const { return position_ == bytes_.size(); }
    [[nodiscard]] size_t words_left() const { return (bytes_.size() - position_) / 8; }

    bool overran = false;
    bool padding_is_zero = true;

private:
    std::span<const std::byte> bytes_;
    size_t position_ = 0;
};

// Reads records in order into an FxtFile; knows the tables as they are at that point.
class FxtParser {
public:
    explicit FxtParser(FxtFile& file) : file_(file) {}
    void parse(std::span<const std::byte> bytes);

private:
    void parse_record(std::span<const std::byte> bytes);
    FxtRecordKind parse_metadata(uint64_t header, FxtWords& words);
    FxtRecordKind parse_initialization(uint64_t header, FxtWords& words);
    FxtRecordKind parse_string(uint64_t header, FxtWords& words);
    FxtRecordKind parse_thread(uint64_t header, FxtWords& words);
    FxtRecordKind parse_event(uint64_t header, FxtWords& words);
    FxtRecordKind parse_kernel_object(uint64_t header, FxtWords& words);
    FxtRecordKind parse_scheduling(uint64_t header, FxtWords& words);
    FxtRecordKind parse_switch(uint64_t header, FxtWords& words);
    FxtRecordKind parse_wakeup(uint64_t header, FxtWords& words);
    FxtRecordKind parse_blob(uint64_t header, FxtWords& words);
    FxtArgumentRange parse_arguments(size_t count, FxtWords& words);
    FxtArgument parse_argument(FxtWords& words);
    FxtValue parse_value(unsigned type, uint64_t header, FxtWords& words);

    [[nodiscard]] std::string_view resolve_string(uint64_t ref, FxtWords& words);
    [[nodiscard]] std::string_view keep(std::string_view text);
    void expect_zero(uint64_t word, unsigned low, unsigned width);
    void problem(std::string_view what);

    FxtFile& file_;
    uint64_t offset_ = 0;
    size_t item_ = 0;  // of the record just read
    std::unordered_map<uint16_t, std::string_view> strings_;
    std::array<std::optional<FxtThread>, 256> threads_;
};

void add_problem(FxtFile& file, uint64_t offset, std::string_view what);

// What only shows across records: nesting, scheduling chains, objects of scheduled threads.
void check_fxt(FxtFile& file);

}  // namespace tracer::test
