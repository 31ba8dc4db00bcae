// SPDX-License-Identifier: Apache-2.0
//
// The string table of one Fuchsia trace (document section "String record"). Writes its own records,
// before the record that needs them. Used by Stream.
#include "tracer/write/fxt/record.h"
#include "tracer/write/fxt/tables.h"

#include <algorithm>
#include <functional>

namespace tracer::fxt {
namespace {

bool write_string(SinkWindow& window, uint32_t index, std::string_view text) {
    Record record(window, string_record_words(text.size()));
    if (!record.has_room()) return false;
    record.word(string_record_header(static_cast<uint16_t>(index), text.size()));
    record.text(text);
    record.commit();
    return true;
}

}  // namespace

StringTable::StringTable(uint16_t slots, uint16_t cached)
    : first_variable_(kStringIndexMax + 1U - slots - cached),
      cache_(cached),
      variables_(size_t{slots} + cached) {
    TR_CHECK(variables_.size() <= kStringIndexMax);
}

tl::expected<StringRef, Fault> StringTable::intern(std::string_view text) {
    if (text.empty()) return StringRef();
    if (const auto known = indices_.find(text); known != indices_.end()) {
        return StringRef::at(known->second);
    }
    if (text.size() > kStringBytesMax) return tl::unexpected(Fault::string_too_long);
    if (permanent_count_ + 1 == first_variable_) return tl::unexpected(Fault::table_full);
    texts_.emplace_back(text);
    permanent_count_ += 1;
    indices_.emplace(texts_.back(), static_cast<uint16_t>(permanent_count_));
    return StringRef::at(permanent_count_);
}

StringRef StringTable::slot(unsigned slot) const {
    // Past the last one: an index that use() refuses.
    const size_t slots = variables_.size() - cache_.count();
    if (slot >= slots) return StringRef::at(kStringIndexMax + 1U);
    return StringRef::at(index_of_variable(cache_.count() + slot));
}

Outcome StringTable::define_slot(SinkWindow& window, unsigned slot, std::string_view text) {
    if (slot >= variables_.size() - cache_.count()) return Fault::index_out_of_range;
    return redefine(window, cache_.count() + slot, text);
}

tl::expected<StringRef, Fault> StringTable::cached(SinkWindow& window, std::string_view text) {
    if (text.empty()) return StringRef();
    if (const auto known = indices_.find(text); known != indices_.end()) {
        return StringRef::at(known->second);
    }
    const uint64_t hash = std::hash<std::string_view>{}(text);
    uint32_t slot = cache_.find(hash, [&](uint32_t it) { return variables_[it].text == text; });
    if (slot != LruSlots::kNone) {
        cache_.touch(slot);
    } else {
        slot = cache_.oldest();
        if (slot == LruSlots::kNone) return tl::unexpected(Fault::table_full);
        if (const Outcome outcome = redefine(window, slot, text); !outcome) {
            return tl::unexpected(outcome.fault());
        }
        cache_.take(slot, hash);
        variables_[slot].generation += 1;
    }
    return StringRef::at(index_of_variable(slot), variables_[slot].generation);
}

// On a fault the slot holds what it held before.
Outcome StringTable::redefine(SinkWindow& window, size_t position, std::string_view text) {
    if (text.size() > kStringBytesMax) return Fault::string_too_long;
    if (!write_string(window, index_of_variable(position), text)) return Fault::no_room;
    Variable& variable = variables_[position];
    variable.text.assign(text);
    if (variable.is_defined && !variable.is_written) unwritten_variables_ -= 1;
    variable.is_defined = true;
    variable.is_written = true;
    return {};
}

Fault StringTable::use_variable(const StringRef& ref) {
    if (ref.index() > kStringIndexMax) return Fault::index_out_of_range;
    if (ref.index() < first_variable_) return Fault::not_defined;
    const size_t position = ref.index() - first_variable_;
    if (!variables_[position].is_defined) return Fault::not_defined;
    if (variables_[position].generation != ref.generation()) return Fault::stale_reference;
    if (position < cache_.count()) cache_.touch(static_cast<uint32_t>(position));
    return Fault::none;
}

std::string_view StringTable::text_of(const StringRef& ref) const {
    if (ref.is_inline() || ref.index() == 0) return ref.text();
    if (ref.index() <= permanent_count_) return texts_[ref.index() - 1];
    return variables_[ref.index() - first_variable_].text;
}

bool StringTable::write_pending(SinkWindow& window) {
    for (; written_ < permanent_count_; ++written_) {
        if (!write_string(window, written_ + 1, texts_[written_])) return false;
    }
    for (size_t i = 0; i < variables_.size() && unwritten_variables_ != 0; ++i) {
        Variable& variable = variables_[i];
        if (!variable.is_defined || variable.is_written) continue;
        if (!write_string(window, index_of_variable(i), variable.text)) return false;
        variable.is_written = true;
        unwritten_variables_ -= 1;
    }
    return true;
}

void StringTable::restart() {
    written_ = 0;
    unwritten_variables_ = 0;
    for (Variable& variable : variables_) {
        variable.is_written = false;
        unwritten_variables_ += variable.is_defined ? 1 : 0;
    }
}

}  // namespace tracer::fxt
