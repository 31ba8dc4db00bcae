// SPDX-License-Identifier: Apache-2.0
//
// From the values of model events to the arguments of records.
#pragma once

#include "tracer/model/event.h"
#include "tracer/write/fxt/arguments.h"
#include "tracer/write/fxt/event_template.h"
#include "write/fxt/fxt_names.h"

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::fxt {

// What one value of an argument is called.
struct PreparedValueName {
    uint64_t bits = 0;
    Name name;
};

// One argument of a point, its names in the string table.
struct PreparedArgument {
    Name name;
    model::ValueType type = model::ValueType::none;
    // Of strings, what says that the target's string was longer: its length in bytes, or where that
    // is not known a lower bound of it.
    Name bytes_name = {};
    Name bytes_min_name = {};
    std::vector<PreparedValueName> names = {};  // in the order of `bits`
};

// The arguments of one point's events. When all are integers under indexed names, which is nearly
// always, every event has the same words but for the values, and they are made here once: such an
// event takes a few nanoseconds instead of a few tens.
class PointArguments {
public:
    PointArguments() = default;
    PointArguments(std::vector<PreparedArgument> prepared, const Name& category, const Name& name);

    [[nodiscard]] std::span<const PreparedArgument> prepared() const { return prepared_; }

    // True if `values` can be written by write_fixed().
    [[nodiscard]] bool fit_fixed(std::span<const model::Value> values) const {
        if (!shape_ || values.size() != prepared_.size()) return false;
        for (size_t i = 0; i < values.size(); ++i) {
            if (values[i].type != prepared_[i].type) return false;
        }
        return true;
    }
    // The same for values that are known to have the types of the point's arguments.
    [[nodiscard]] bool is_fixed(std::span<const model::ValueType> types) const {
        return shape_ && types.size() == shape_->count();
    }
    [[nodiscard]] size_t fixed_words() const { return shape_->words(); }
    [[nodiscard]] uint64_t fixed_header(EventType type, uint8_t thread_slot) const {
        return shape_->event_header(type, thread_slot);
    }
    void write_fixed(Record& record, std::span<const model::Value> values) const {
        for (size_t i = 0; i < values.size(); ++i) write_argument(record, i, values[i].bits);
    }
    // Of 8 bytes a value.
    void write_fixed(Record& record, std::span<const std::byte> words) const {
        const size_t count = shape_->count();
        assert(words.size() == count * kWordBytes);
        for (size_t i = 0; i < count; ++i) {
            uint64_t bits = 0;
            std::memcpy(&bits, words.data() + i * kWordBytes, kWordBytes);
            write_argument(record, i, bits);
        }
    }

private:
    void write_argument(Record& record, size_t argument, uint64_t bits) const {
        const uint64_t header = shape_->argument_header(argument);
        if (value_words(shape_->type(argument)) != 0) {
            record.word(header);
            record.word(bits);
        } else {
            record.word(header | argument_payload_32(static_cast<uint32_t>(bits)));
        }
    }

    std::vector<PreparedArgument> prepared_;
    std::optional<EventShape> shape_;
};

// Room for strings that had to be repaired; kept by the writer so that it is allocated once.
using RepairedTexts = std::array<std::string, kArgumentsMax>;

// Adds `values` under the names of `prepared`. False: they do not match, or are too many. Adds to
// `strings_cut` for each string shortened here.
[[nodiscard]] bool add_values(ArgumentList& out,
                              std::span<const PreparedArgument> prepared,
                              std::span<const model::Value> values,
                              RepairedTexts& repaired,
                              uint64_t& strings_cut);

// As add_values, for counters: readers plot integers and doubles only, so booleans and pointers
// become integers and the rest is left out. False also when nothing is left.
[[nodiscard]] bool add_counter_values(ArgumentList& out,
                                      std::span<const PreparedArgument> prepared,
                                      std::span<const model::Value> values);

// `text` fit for a record: UTF-8 of at most kStringBytesMax bytes. Borrows from `text` or
// `repaired`.
[[nodiscard]] std::string_view clean_text(std::string_view text,
                                          std::string& repaired,
                                          uint64_t& strings_cut);

}  // namespace tracer::fxt
