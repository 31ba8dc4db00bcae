// SPDX-License-Identifier: Apache-2.0
//
// The two tables that let records name strings and threads by a number. What a table holds is
// written into the trace before the first record that needs it, and again in each chunk. Both can
// run out; neither ever gives a wrong name then. Used through Stream.
#pragma once

#include "tracer/write/fxt/fault.h"
#include "tracer/write/fxt/lru.h"
#include "tracer/write/fxt/refs.h"
#include "tracer/write/fxt/window.h"
#include "tracer/write/fxt/words.h"

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tl/expected.hpp>

namespace tracer::fxt {

// The indices of a trace, 1..32,767, in three parts: strings that stay, from 1 on; a cache, which
// takes the string used longest ago back when it is full; and at the end slots that the caller
// numbers and re-defines. The sizes of the last two are fixed when the table is made.
class StringTable {
public:
    // slots + cached is at most kStringIndexMax.
    StringTable(uint16_t slots, uint16_t cached);

    // The index of `text`, new or known, for the life of the table. A new one is pending until
    // write_pending(). table_full: put the text itself into records instead.
    [[nodiscard]] tl::expected<StringRef, Fault> intern(std::string_view text);

    // Writes `text` as what the slot, 0.., holds from here on.
    Outcome define_slot(SinkWindow& window, unsigned slot, std::string_view text);
    [[nodiscard]] StringRef slot(unsigned slot) const;

    // The index of `text`, interned before, in the cache, or taken into it now. Good until another
    // string takes its place; a use after that is stale_reference.
    [[nodiscard]] tl::expected<StringRef, Fault> cached(SinkWindow& window, std::string_view text);

    // Whether a record may use `ref`; counts as a use for the cache.
    [[nodiscard]] Fault use(const StringRef& ref) {
        if (ref.is_inline()) {
            return ref.text().size() <= kStringBytesMax ? Fault::none : Fault::string_too_long;
        }
        return ref.index() <= permanent_count_ ? Fault::none : use_variable(ref);
    }
    // Whether `ref` names the same string for the life of the table; the empty one does.
    [[nodiscard]] bool is_permanent(const StringRef& ref) const {
        return ref.index() <= permanent_count_;
    }

    // What a reference that use() found good names. Borrowed; of inline text the caller's own.
    [[nodiscard]] std::string_view text_of(const StringRef& ref) const;

    [[nodiscard]] bool has_pending() const {
        return written_ < permanent_count_ || unwritten_variables_ != 0;
    }
    // False: no room; what was written stays written, the rest is tried again next time.
    [[nodiscard]] bool write_pending(SinkWindow& window);
    // Nothing counts as written any more: a new chunk begins.
    void restart();

private:
    struct Variable {  // of the cache or a slot
        std::string text;
        uint32_t generation = 0;
        bool is_defined = false;
        bool is_written = false;
    };

    [[nodiscard]] Fault use_variable(const StringRef& ref);
    [[nodiscard]] uint32_t index_of_variable(size_t position) const {
        return first_variable_ + static_cast<uint32_t>(position);
    }
    Outcome redefine(SinkWindow& window, size_t position, std::string_view text);

    std::deque<std::string> texts_;  // of index 1, 2, ...; addresses stay, the map's keys use them
    std::unordered_map<std::string_view, uint16_t> indices_;
    uint32_t permanent_count_ = 0;  // texts_.size(), which is slow to ask
    uint32_t written_ = 0;          // records are written in index order, so one number says which

    uint32_t first_variable_;          // index of variables_[0]
    LruSlots cache_;                   // the first of variables_
    std::vector<Variable> variables_;  // the cache, then the slots
    size_t unwritten_variables_ = 0;
};

// The 255 thread slots: the first ones the caller's, by number; the others a cache by ids. A slot
// whose thread was used longest ago is given to the next thread by a new thread record, which
// readers take from there on.
class ThreadTable {
public:
    explicit ThreadTable(uint8_t slots);

    // Writes `ids` as the thread of a slot of the caller's, 1..
    Outcome define_slot(SinkWindow& window, uint8_t slot, const ThreadIds& ids);

    // A slot for `ids`, with a thread record where it is new. In full, if there is no room for the
    // record or all slots are pinned.
    [[nodiscard]] ThreadRef find(SinkWindow& window, const ThreadIds& ids);

    // Whether the slot of `ref` is still its own; never, of one in full.
    [[nodiscard]] bool is_current(const ThreadRef& ref) const {
        return generations_[ref.slot()] == ref.generation();
    }
    // Counts as a use of a current reference.
    void touch(const ThreadRef& ref) {
        if (ref.slot() != last_used_) [[unlikely]]
            touch_slot(ref.slot());
    }
    // The slot by which a record may name the thread; 0: in full. For a reference whose slot was
    // given away, a new one.
    [[nodiscard]] tl::expected<uint8_t, Fault> use(SinkWindow& window, const ThreadRef& ref) {
        if (is_current(ref)) [[likely]] {
            touch(ref);
            return ref.slot();
        }
        return use_again(window, ref);
    }

    // Keeps the slot of `ids` for them, for the life of the table. table_full: no slot is left.
    [[nodiscard]] tl::expected<ThreadRef, Fault> pin(SinkWindow& window, const ThreadIds& ids);

    [[nodiscard]] bool has_pending() const { return unwritten_ != 0; }
    // Writes the slots that must hold what they held before the chunk: the caller's and the
    // pinned ones. The others are found again when their threads are used.
    [[nodiscard]] bool write_pending(SinkWindow& window);
    void restart();

private:
    // Of a slot that holds no thread now, which no reference has.
    static constexpr uint32_t kUndefined = UINT32_MAX;

    struct Slot {
        ThreadIds ids;
        uint32_t times_given = 0;  // of the cache: the generation it had last
        bool is_written = false;
    };

    void touch_slot(uint8_t slot);
    void define(unsigned slot, const ThreadIds& ids, uint32_t generation);
    [[nodiscard]] tl::expected<uint8_t, Fault> use_again(SinkWindow& window, const ThreadRef& ref);
    [[nodiscard]] tl::expected<ThreadRef, Fault> find_or_assign(SinkWindow& window,
                                                                const ThreadIds& ids);

    std::array<uint32_t, kThreadSlotMax + 1> generations_{};  // slot 0 is "in full": undefined
    uint8_t last_used_ = 0;
    std::array<Slot, kThreadSlotMax + 1> slots_{};
    uint16_t first_cached_;
    LruSlots cache_;
    size_t unwritten_ = 0;
};

}  // namespace tracer::fxt
