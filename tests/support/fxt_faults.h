// SPDX-License-Identifier: Apache-2.0
//
// Every way in which a record can break the format, by name: they are counted, and one can be said
// in words with the record's place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tracer::test {

enum class FxtFault : uint8_t {
    no_magic,
    no_words,
    too_short,
    too_long,
    too_large,
    reserved_bits,
    padding,
    string_index_zero,
    string_undefined,
    string_too_long,
    string_table_full,
    thread_index_zero,
    thread_undefined,
    argument_size,
    argument_type,
    no_tick_rate,
    initialization_size,
    provider_undefined,
    providers_too_many,
    blob_type,
    metadata_type,
    trace_info_type,
    event_type,
    scheduling_type,
    record_type,
    large_type,
    large_format,
};
inline constexpr size_t kFxtFaults = static_cast<size_t>(FxtFault::large_format) + 1;

struct FxtFaultReport {
    FxtFault fault{};
    uint64_t offset = 0;  // of the record, bytes from the beginning of the stream
    uint64_t found = 0;   // what these two mean is in the text of the fault
    uint64_t expected = 0;
};

using FxtFaultCounts = std::array<uint64_t, kFxtFaults>;

// As in the enumeration.
[[nodiscard]] std::string_view name_of(FxtFault fault);

// A sentence without the offset.
[[nodiscard]] std::string describe(const FxtFaultReport& report);

}  // namespace tracer::test
