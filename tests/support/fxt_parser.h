// SPDX-License-Identifier: Apache-2.0
//
// What one record of a Fuchsia trace says, given the tables as they are at that point. Used by
// fxt_stream, which cuts the stream into records; not for tests.
#pragma once

#include "support/fxt_stream.h"
#include "tracer/base/byte_cursor.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace tracer::test {

[[nodiscard]] constexpr uint64_t fxt_bits(uint64_t word, unsigned low, unsigned width) {
    return (word >> low) & ((uint64_t{1} << width) - 1);
}

// The words of one record, read front to back. A read past the end gives 0 and sets `overran`.
class FxtWords {
public:
    explicit FxtWords(std::span<const std::byte> bytes) : cursor_(bytes) {}
    [[nodiscard]] uint64_t next();
    // `length` bytes and the padding after them; `padding_is_zero` becomes false if it is not.
    [[nodiscard]] std::string_view text(uint64_t length);
    [[nodiscard]] size_t words_left() const { return cursor_.remaining() / 8; }

    bool overran = false;
    bool padding_is_zero = true;

private:
    ByteCursor cursor_;
};

// Parses the records of one stream in their order and keeps the tables of its providers.
class FxtParser {
public:
    FxtParser(FxtVisitor& visitor, const FxtLimits& limits);

    // A whole record: as many bytes as its header says, and at least a word.
    void parse(uint64_t offset, std::span<const std::byte> record);

    // A record that is too large to be kept.
    void skip(uint64_t offset, uint64_t words, uint8_t record_type);

private:
    struct Thread {
        uint64_t pid = 0;
        uint64_t tid = 0;
    };
    struct Provider {
        std::unordered_map<uint16_t, std::string> strings;
        std::unordered_map<uint8_t, Thread> threads;
    };

    FxtPayload parse_payload(uint64_t header, FxtWords& words);
    FxtPayload parse_metadata(uint64_t header, FxtWords& words);
    FxtPayload parse_initialization(uint64_t header, FxtWords& words);
    FxtPayload parse_string(uint64_t header, FxtWords& words);
    FxtPayload parse_thread(uint64_t header, FxtWords& words);
    FxtPayload parse_event(uint64_t header, FxtWords& words);
    FxtPayload parse_blob(uint64_t header, FxtWords& words);
    FxtPayload parse_userspace_object(uint64_t header, FxtWords& words);
    FxtPayload parse_kernel_object(uint64_t header, FxtWords& words);
    FxtPayload parse_scheduling(uint64_t header, FxtWords& words);
    FxtPayload parse_switch(uint64_t header, FxtWords& words);
    FxtPayload parse_wakeup(uint64_t header, FxtWords& words);
    FxtPayload parse_legacy_switch(uint64_t header, FxtWords& words);
    FxtPayload parse_log(uint64_t header, FxtWords& words);
    FxtPayload parse_large(uint64_t header, FxtWords& words);
    FxtArgumentRange parse_arguments(uint64_t count, FxtWords& words);
    FxtArgument parse_argument(FxtWords& words);
    FxtValue parse_value(uint64_t type, uint64_t header, FxtWords& words);

    [[nodiscard]] std::string_view text_of(uint64_t length, FxtWords& words);
    [[nodiscard]] std::string_view resolve_string(uint64_t ref, FxtWords& words);
    [[nodiscard]] Thread resolve_thread(uint64_t ref, FxtWords& words);
    void enter(const FxtPayload& payload);
    void enter_string(const FxtString& string);
    void select_provider(uint32_t id);
    void clear(Provider& provider);
    void expect_zero(uint64_t word, unsigned low, unsigned width);
    void report(FxtFault fault, uint64_t found = 0, uint64_t expected = 0);
    [[nodiscard]] FxtPayload unknown(FxtFault fault, uint64_t type);

    FxtVisitor& visitor_;
    FxtLimits limits_;
    uint64_t offset_ = 0;                 // of the record being parsed
    uint8_t record_type_ = 0;             // its type
    std::vector<FxtArgument> arguments_;  // its arguments
    std::unordered_map<uint32_t, Provider> providers_;
    Provider unlisted_;  // of the provider that found no place in providers_
    Provider* provider_ = nullptr;
    uint32_t provider_id_ = 0;
    size_t table_bytes_ = 0;
};

}  // namespace tracer::test
