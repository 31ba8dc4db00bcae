// SPDX-License-Identifier: Apache-2.0
//
// The names and sentences of what can be wrong with a record of a Fuchsia trace, one row each.
// Used by fxt_reader for the problems of a file and by fxt_text for its counters.
#include "support/fxt_faults.h"

#include <fmt/format.h>

namespace tracer::test {
namespace {

struct Row {
    FxtFault fault;
    std::string_view name;
    std::string_view sentence;  // {0} found, {1} expected
};

constexpr std::array<Row, kFxtFaults> kRows{{
    {FxtFault::no_magic, "no_magic", "the file does not begin with the magic record"},
    {FxtFault::no_words, "no_words", "a record of no words; the rest cannot be read"},
    {FxtFault::too_short, "too_short", "the record is too short for what it says it holds"},
    {FxtFault::too_long, "too_long", "{0} words too many in the record"},
    {FxtFault::too_large, "too_large", "a record of {0} bytes; at most {1} are read"},
    {FxtFault::reserved_bits, "reserved_bits", "reserved bits {0}..{1} are not zero"},
    {FxtFault::padding, "padding", "padding after a text is not zero"},
    {FxtFault::string_index_zero, "string_index_zero", "a string of index 0"},
    {FxtFault::string_undefined, "string_undefined", "string {0} is not defined"},
    {FxtFault::string_too_long, "string_too_long", "a text of {0} bytes, longer than {1}"},
    {FxtFault::string_table_full, "string_table_full",
     "string {0} is left out, the tables hold {1} bytes"},
    {FxtFault::thread_index_zero, "thread_index_zero", "a thread of index 0"},
    {FxtFault::thread_undefined, "thread_undefined", "thread {0} is not defined"},
    {FxtFault::argument_size, "argument_size", "an argument says {0} words and has {1}"},
    {FxtFault::argument_type, "argument_type", "argument of unknown type {0}"},
    {FxtFault::no_tick_rate, "no_tick_rate", "no ticks per second"},
    {FxtFault::initialization_size, "initialization_size",
     "an initialization of {0} words, neither 2 nor 4"},
    {FxtFault::provider_undefined, "provider_undefined", "provider {0} is not defined"},
    {FxtFault::providers_too_many, "providers_too_many",
     "provider {0} gets no tables, there are {1} already"},
    {FxtFault::blob_type, "blob_type", "blob of unknown type {0}"},
    {FxtFault::metadata_type, "metadata_type", "metadata of unknown type {0}"},
    {FxtFault::trace_info_type, "trace_info_type", "trace information other than the magic number"},
    {FxtFault::event_type, "event_type", "event of unknown type {0}"},
    {FxtFault::scheduling_type, "scheduling_type", "scheduling record of subtype {0}"},
    {FxtFault::record_type, "record_type", "record of unknown type {0}"},
    {FxtFault::large_type, "large_type", "large record of unknown type {0}"},
    {FxtFault::large_format, "large_format", "large blob of unknown format {0}"},
}};

constexpr bool rows_are_in_order() {
    for (size_t i = 0; i < kRows.size(); ++i) {
        if (static_cast<size_t>(kRows[i].fault) != i) return false;
    }
    return true;
}
static_assert(rows_are_in_order());

}  // namespace

std::string_view name_of(FxtFault fault) {
    return kRows[static_cast<size_t>(fault)].name;
}

std::string describe(const FxtFaultReport& report) {
    return fmt::format(fmt::runtime(kRows[static_cast<size_t>(report.fault)].sentence),
                       report.found, report.expected);
}

}  // namespace tracer::test
