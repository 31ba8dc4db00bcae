// SPDX-License-Identifier: Apache-2.0
//
// The posts of events that vary in size or in form. Relies on BlockBuffer::post, which checks every
// call against the table; used by whoever posts events.
#include "tracer/write/eventlog/poster.h"

#include <bit>
#include <charconv>

namespace tracer::eventlog {

Fault Poster::post_thread_label(uint64_t ns, ThreadId thread, std::string_view label) {
    return post<EventId::thread_label>(ns, thread, Text{label});
}

Fault Poster::post_rts_identifier(uint64_t ns, CapsetId capset, std::string_view name) {
    return post<EventId::rts_identifier>(ns, capset, Text{name});
}

Fault Poster::post_program_args(uint64_t ns,
                                CapsetId capset,
                                std::span<const std::string_view> arguments) {
    return post<EventId::program_args>(ns, capset, Strings{arguments});
}

Fault Poster::post_program_env(uint64_t ns,
                               CapsetId capset,
                               std::span<const std::string_view> variables) {
    return post<EventId::program_env>(ns, capset, Strings{variables});
}

Fault Poster::post_log_message(uint64_t ns, std::string_view text) {
    return post<EventId::log_message>(ns, Text{text});
}

Fault Poster::post_user_message(uint64_t ns, std::string_view text) {
    return post<EventId::user_message>(ns, Text{text});
}

Fault Poster::post_user_marker(uint64_t ns, std::string_view text) {
    return post<EventId::user_marker>(ns, Text{text});
}

Fault Poster::post_user_binary_message(uint64_t ns, std::span<const std::byte> bytes) {
    return post<EventId::user_binary_message>(ns, Bytes{bytes});
}

Fault Poster::post_intern_string(uint64_t ns, std::string_view text, uint32_t id) {
    return post<EventId::intern_string>(ns, Text{text}, id);
}

Fault Poster::post_perf_name(uint64_t ns, PerfId id, std::string_view name) {
    return post<EventId::perf_name>(ns, id, Text{name});
}

Fault Poster::post_heap_prof_begin(uint64_t ns, const HeapProfile& profile) {
    if (!is_known(profile.breakdown)) return buffer_->refuse(Fault::bad_value);
    return post<EventId::heap_prof_begin>(
        ns, profile.id, profile.period_ns, profile.breakdown, CString{profile.module_filter},
        CString{profile.closure_filter}, CString{profile.type_filter},
        CString{profile.cost_centre_filter}, CString{profile.cost_centre_stack_filter},
        CString{profile.retainer_filter}, CString{profile.biography_filter});
}

Fault Poster::post_heap_prof_cost_centre(uint64_t ns, const CostCentre& centre) {
    const uint8_t flags = centre.is_caf ? 1 : 0;
    return post<EventId::heap_prof_cost_centre>(ns, centre.id, CString{centre.label},
                                                CString{centre.module_name}, CString{centre.source},
                                                flags);
}

Fault Poster::post_heap_prof_sample_cost_centre(uint64_t ns,
                                                uint8_t profile,
                                                uint64_t residency_bytes,
                                                std::span<const uint32_t> cost_centres) {
    return post<EventId::heap_prof_sample_cost_centre>(ns, profile, residency_bytes,
                                                       Stack{cost_centres});
}

Fault Poster::post_heap_prof_sample_string(uint64_t ns,
                                           uint8_t profile,
                                           uint64_t residency_bytes,
                                           std::string_view label) {
    return post<EventId::heap_prof_sample_string>(ns, profile, residency_bytes, CString{label});
}

Fault Poster::post_prof_sample_cost_centre(uint64_t ns,
                                           uint32_t cap,
                                           uint64_t tick,
                                           std::span<const uint32_t> cost_centres) {
    return post<EventId::prof_sample_cost_centre>(ns, cap, tick, Stack{cost_centres});
}

Fault Poster::post_nonmoving_heap_census(uint64_t ns, const NonmovingCensus& census) {
    const auto post_with_size = [&]<const EventType & form>(auto size) {
        return buffer_->post_as<form>(ns, size, census.active_segments, census.filled_segments,
                                      census.live_blocks);
    };
    if (buffer_->dialect().release >= Release::ghc_9_10) {
        return post_with_size.operator()<kTypeOf<EventId::nonmoving_heap_census>>(
            census.block_bytes);
    }
    // Up to 9.8 the size stands as its logarithm.
    if (!std::has_single_bit(census.block_bytes)) return buffer_->refuse(Fault::bad_value);
    return post_with_size.operator()<table::kCensusBefore910>(
        static_cast<uint8_t>(std::countr_zero(census.block_bytes)));
}

Fault Poster::post_ipe(uint64_t ns, const InfoTable& table) {
    char digits[10];
    const char* const end = std::to_chars(digits, digits + sizeof(digits), table.closure_type).ptr;
    const std::string_view closure_type(digits, static_cast<size_t>(end - digits));
    return post<EventId::ipe>(ns, table.address, CString{table.table_name}, CString{closure_type},
                              CString{table.type_description}, CString{table.label},
                              CString{table.module_name}, CString{table.source});
}

Fault Poster::post_ticky_counter_def(uint64_t ns, const TickyCounter& counter) {
    const Release release = buffer_->dialect().release;
    const CString kinds{counter.kinds};
    const CString name{counter.name};
    if (release < Release::ghc_9_4) {
        return buffer_->post_as<table::kTickyBefore904>(ns, counter.id, counter.arity, kinds, name);
    }
    if (release < Release::ghc_9_6) {
        return buffer_->post_as<table::kTickyBefore906>(ns, counter.id, counter.arity, kinds, name,
                                                        counter.info_table);
    }
    return post<EventId::ticky_counter_def>(ns, counter.id, counter.arity, kinds, name,
                                            counter.info_table, CString{counter.json});
}

}  // namespace tracer::eventlog
