// SPDX-License-Identifier: Apache-2.0
//
// Why a record was not written. Nothing of it is in the trace then, and what comes after means the
// same as without the call.
#pragma once

#include <cstdint>
#include <string_view>

namespace tracer::fxt {

enum class Fault : uint8_t {
    none,
    no_room,             // the sink takes no more now
    too_many_arguments,  // of a list put together at run time: more than 15
    string_too_long,     // over 32,000 bytes; a provider's name over 255
    index_out_of_range,  // a string index over 0x7fff, a slot, a CPU that the record has no bits
                         // for
    not_defined,         // an index, slot or provider that nothing was written for
    stale_reference,     // a cached string that had to make place for another one since
    needs_index,         // a name of a template that is neither interned nor in a slot
    end_before_start,
    blob_too_long,    // over 32,767 bytes, or a large one over what sinks take at once
    record_too_long,  // over 4,095 words with its strings
    wrong_type,       // not the type of the template's argument, or not a number in a counter
    wrong_count,      // not the number of values that the template has
    table_full,       // no index or slot is left that may be taken
};

// The enumerator's name, for messages.
[[nodiscard]] constexpr std::string_view name_of(Fault fault) {
    switch (fault) {
        case Fault::none:
            return "none";
        case Fault::no_room:
            return "no_room";
        case Fault::too_many_arguments:
            return "too_many_arguments";
        case Fault::string_too_long:
            return "string_too_long";
        case Fault::index_out_of_range:
            return "index_out_of_range";
        case Fault::not_defined:
            return "not_defined";
        case Fault::stale_reference:
            return "stale_reference";
        case Fault::needs_index:
            return "needs_index";
        case Fault::end_before_start:
            return "end_before_start";
        case Fault::blob_too_long:
            return "blob_too_long";
        case Fault::record_too_long:
            return "record_too_long";
        case Fault::wrong_type:
            return "wrong_type";
        case Fault::wrong_count:
            return "wrong_count";
        case Fault::table_full:
            return "table_full";
    }
    return "unknown";
}

// What became of one record. Counted in the stream too (StreamCounters), so it may be ignored:
// written, written with a string shortened (only where the stream was told to cut), or not written
// and why.
class Outcome {
public:
    constexpr Outcome() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): functions return faults by name.
    constexpr Outcome(Fault fault) : fault_(fault) {}
    [[nodiscard]] static constexpr Outcome written_cut() {
        Outcome outcome;
        outcome.is_cut_ = true;
        return outcome;
    }

    // Whether the record is in the trace.
    constexpr explicit operator bool() const { return fault_ == Fault::none; }
    [[nodiscard]] constexpr Fault fault() const { return fault_; }
    [[nodiscard]] constexpr bool is_cut() const { return is_cut_; }

private:
    Fault fault_ = Fault::none;
    bool is_cut_ = false;
};

}  // namespace tracer::fxt
