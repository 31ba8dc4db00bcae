// SPDX-License-Identifier: Apache-2.0
//
// The part of Stream that is compiled where it is used, so that types and sizes are constants.
// Included by stream.h, at its end.
#pragma once

#include "tracer/write/fxt/stream.h"

namespace tracer::fxt {

// Inlined whatever the compiler thinks of its size: it is a few stores once the references are
// known to be loop invariants, and many times that when they go through memory.
template <EventType type, ArgumentType... types>
[[gnu::always_inline]] inline Outcome Stream::typed(const ThreadRef& thread,
                                                    const StringRef& category,
                                                    const StringRef& name,
                                                    uint64_t time,
                                                    uint64_t last_word,
                                                    const TypedArgument<types>&... arguments) {
    static_assert(sizeof...(types) <= kArgumentsMax, "a record has at most 15 arguments");
    constexpr size_t words =
        kEventWords + trailing_words(type) + (size_t{0} + ... + (1 + value_words(types)));
    const bool is_plain = threads_.is_current(thread) && strings_.is_permanent(category) &&
                          strings_.is_permanent(name) && (has_fixed_size(arguments) && ...) &&
                          (type != EventType::duration_complete || time <= last_word);
    if (is_plain && window_.has_room(words)) [[likely]] {
        threads_.touch(thread);
        uint64_t* next = window_.next();
        *next++ = event_header(type, words, sizeof...(types), thread.slot(),
                               event_names(category.index_bits(), name.index_bits()));
        *next++ = time;
        ((next = arguments.put(next)), ...);
        if constexpr (trailing_words(type) != 0) *next++ = last_word;
        window_.commit(next);
        return {};
    }
    return event({type, thread, category, name, time, last_word},
                 std::array<Argument, sizeof...(types)>{arguments.copied()...});
}

}  // namespace tracer::fxt
