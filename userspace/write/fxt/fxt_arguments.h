// SPDX-License-Identifier: Apache-2.0
//
// The arguments of one record: gathered first, because a record's header says their size, then
// written.
#pragma once

#include "tracer/model/event.h"
#include "write/fxt/fxt_record.h"
#include "write/fxt/fxt_tables.h"
#include "write/fxt/fxt_words.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::fxt {

// Lives on the stack for one event and allocates nothing. Names and texts are borrowed until
// write(). At most kArgumentsMax are kept; check has_room() first.
// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): items are set as they are added.
class Arguments {
public:
    [[nodiscard]] bool has_room() const { return count_ < kArgumentsMax; }
    [[nodiscard]] size_t count() const { return count_; }
    [[nodiscard]] size_t words() const { return words_; }

    void add_null(const Name& name) { add(name, ArgumentType::null, 0); }
    void add_s32(const Name& name, int32_t value) {
        const auto bits = static_cast<uint32_t>(value);
        add(name, ArgumentType::int32, argument_payload_32(bits));
    }
    void add_u32(const Name& name, uint32_t value) {
        add(name, ArgumentType::uint32, argument_payload_32(value));
    }
    void add_bool(const Name& name, bool value) {
        add(name, ArgumentType::boolean, argument_payload_bool(value));
    }
    // The types whose value is a word of its own: int64, uint64, float64, pointer, koid.
    void add_word(const Name& name, ArgumentType type, uint64_t bits) {
        Item& item = add(name, type, 0, 1);
        item.has_value = true;
        item.value = bits;
    }
    // `text` is UTF-8 of at most kStringBytesMax bytes.
    void add_text(const Name& name, std::string_view text);
    void add_name(const Name& name, const Name& value);  // a string that has an index

    // Shortens strings, longest first, until words() <= words_max; how many it shortened.
    // Check words() after: what is not a string cannot shrink.
    [[nodiscard]] size_t shorten_to(size_t words_max);

    void write(Record& record) const {
        for (size_t i = 0; i < count_; ++i) {
            const Item& item = items_[i];
            record.word(item.header);
            if (item.name_bytes != 0) [[unlikely]]
                record.text({item.name, item.name_bytes});
            if (item.has_value) record.word(item.value);
            if (item.text_bytes != 0) record.text({item.text, item.text_bytes});
        }
    }

private:
    // Trivial on purpose: fifteen of these must cost nothing until they are used.
    struct Item {
        uint64_t header;
        uint64_t value;
        const char* name;  // of an inline name
        const char* text;  // of an inline string value
        uint16_t name_bytes;
        uint16_t text_bytes;
        uint16_t name_ref;
        bool has_value;
    };

    Item& add(const Name& name, ArgumentType type, uint64_t payload, size_t value_words = 0) {
        const size_t words = 1 + inline_words(name.ref) + value_words;
        Item& item = items_[count_];
        count_ += 1;
        words_ += words;
        item.header = argument_header(type, words, name.ref) | payload;
        item.name = name.text.data();
        item.text = nullptr;
        item.name_bytes = static_cast<uint16_t>(name.text.size());
        item.text_bytes = 0;
        item.name_ref = name.ref;
        item.has_value = false;
        return item;
    }
    void set_text(Item& item, std::string_view text);

    size_t count_ = 0;
    size_t words_ = 0;
    std::array<Item, kArgumentsMax> items_;
};

// One argument of a point, its names in the string table.
struct PreparedArgument {
    Name name;
    Name cut_name;  // of strings: the flag that says the target's string was longer
    model::ValueType type = model::ValueType::none;
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
        if (!is_fixed_ || values.size() != fixed_.size()) return false;
        for (size_t i = 0; i < values.size(); ++i) {
            if (values[i].type != fixed_[i].type) return false;
        }
        return true;
    }
    // The same for values that are known to have the types of the point's arguments.
    [[nodiscard]] bool is_fixed(std::span<const model::ValueType> types) const {
        return is_fixed_ && types.size() == fixed_.size();
    }
    [[nodiscard]] size_t fixed_words() const { return fixed_words_; }
    [[nodiscard]] uint64_t fixed_header(EventType type, uint8_t thread_slot) const {
        return fixed_header_ | event_type_and_thread(type, thread_slot);
    }
    void write_fixed(Record& record, std::span<const model::Value> values) const {
        for (size_t i = 0; i < values.size(); ++i) {
            write_argument(record, fixed_[i], values[i].bits);
        }
    }
    // Of 8 bytes a value.
    void write_fixed(Record& record, std::span<const std::byte> words) const {
        assert(words.size() == fixed_.size() * kWordBytes);
        const std::byte* next = words.data();
        for (const Fixed& argument : fixed_) {
            uint64_t bits = 0;
            std::memcpy(&bits, next, sizeof(bits));
            next += sizeof(bits);
            write_argument(record, argument, bits);
        }
    }

private:
    struct Fixed {
        uint64_t header;
        model::ValueType type;
        bool has_word;  // the value is a word of its own, else in the header
    };

    static void write_argument(Record& record, const Fixed& argument, uint64_t bits) {
        if (argument.has_word) {
            record.word(argument.header);
            record.word(bits);
        } else {
            record.word(argument.header | argument_payload_32(static_cast<uint32_t>(bits)));
        }
    }

    std::vector<PreparedArgument> prepared_;
    bool is_fixed_ = false;
    uint64_t fixed_header_ = 0;
    size_t fixed_words_ = 0;
    std::vector<Fixed> fixed_;
};

// Room for strings that had to be repaired; kept by the writer so that it is allocated once.
using RepairedTexts = std::array<std::string, kArgumentsMax>;

// Adds `values` under the names of `prepared`. False: they do not match, or are too many. Adds to
// `strings_cut` for each string shortened here.
[[nodiscard]] bool add_values(Arguments& out,
                              std::span<const PreparedArgument> prepared,
                              std::span<const model::Value> values,
                              RepairedTexts& repaired,
                              uint64_t& strings_cut);

// As add_values, for counters: readers plot integers and doubles only, so booleans and pointers
// become integers and the rest is left out. False also when nothing is left.
[[nodiscard]] bool add_counter_values(Arguments& out,
                                      std::span<const PreparedArgument> prepared,
                                      std::span<const model::Value> values);

// `text` fit for a record: UTF-8 of at most kStringBytesMax bytes. Borrows from `text` or
// `repaired`.
[[nodiscard]] std::string_view clean_text(std::string_view text,
                                          std::string& repaired,
                                          uint64_t& strings_cut);

}  // namespace tracer::fxt
