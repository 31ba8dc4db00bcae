// SPDX-License-Identifier: Apache-2.0
//
// Hits that are neither an instant nor one end of a span: values of counters, states of threads,
// and names. Called by the decoder's on_hit().
#include "decode/record_decoder.h"

#include <algorithm>

namespace tracer {

namespace {

bool is_number(const model::Value& value) {
    return value.type != model::ValueType::none && value.type != model::ValueType::string;
}

}  // namespace

// Without any number there is no value; what could not be read is counted already.
void RecordDecoder::on_counter_hit(const Probe& probe,
                                   Task& task,
                                   const When& when,
                                   std::span<const model::Value> values,
                                   std::string_view name) {
    if (std::ranges::none_of(values, is_number)) return;
    const model::ThreadIndex thread = tasks_.named(task);
    output_.write({when.time_ns, model::Counter{probe.point, thread, values, name}, when.cpu});
}

void RecordDecoder::on_state_hit(const Probe& probe,
                                 uint32_t probe_id,
                                 Task& task,
                                 const When& when,
                                 std::span<const model::Value> values,
                                 std::string_view name) {
    if (!probe.has_line) return;
    Task* const line = tasks_.line(task, LineKind::states, line_of(probe, probe_id, values));
    if (line == nullptr) {
        ++counters_.lines_beyond_limit;
        return;
    }
    const bool is_none = probe.has_name && name.empty();
    spans_.change_state(*line, probe.point, when, values, name, is_none);
}

// A name of which a part could not be read is none.
void RecordDecoder::on_naming_hit(const Probe& probe,
                                  uint32_t probe_id,
                                  Task& task,
                                  std::span<const model::Value> values,
                                  std::string_view name) {
    if (!probe.has_name) return;
    const bool is_whole = std::ranges::all_of(names_[probe_id], [&](const NamePiece& piece) {
        return piece.slot == NamePiece::kText ||
               (piece.slot < values.size() && values[piece.slot].type != model::ValueType::none);
    });
    if (!is_whole) return;
    if (probe.role == HitRole::thread_name) {
        tasks_.give_thread_name(task, name);
    } else {
        tasks_.give_process_name(*task.process, name);
    }
}

}  // namespace tracer
