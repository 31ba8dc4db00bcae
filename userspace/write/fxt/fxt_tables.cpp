// SPDX-License-Identifier: Apache-2.0
//
// String and thread tables of one Fuchsia trace (document sections "String record" and "Thread
// record"). Both write their own records, before the record that needs them. Used by the writer
// alone.
#include "write/fxt/fxt_tables.h"

#include "write/fxt/fxt_record.h"

namespace tracer::fxt {

Name StringTable::intern(std::string_view text) {
    if (text.empty()) return {};
    if (const auto known = indices_.find(text); known != indices_.end()) return {known->second, {}};
    if (texts_.size() == kStringIndexMax) return {inline_ref(text.size()), std::string(text)};
    texts_.emplace_back(text);
    const auto index = static_cast<uint16_t>(texts_.size());
    indices_.emplace(texts_.back(), index);
    return {index, {}};
}

bool StringTable::write_pending(ByteSink& sink) {
    for (; written_ < texts_.size(); ++written_) {
        const std::string& text = texts_[written_];
        Record record(sink, string_record_words(text.size()));
        if (!record.has_room()) return false;
        record.word(string_record_header(static_cast<uint16_t>(written_ + 1), text.size()));
        record.text(text);
        record.commit();
    }
    return true;
}

uint8_t ThreadTable::assign(ByteSink& sink, const ThreadIds& ids) {
    // Free slots have last_use 0, so they are found first.
    uint8_t oldest = 1;
    for (unsigned slot = 1; slot <= kThreadSlotMax; ++slot) {
        if (slots_[slot].last_use < slots_[oldest].last_use) oldest = static_cast<uint8_t>(slot);
    }
    Record record(sink, kThreadRecordWords);
    if (!record.has_room()) return 0;
    record.word(thread_record_header(oldest));
    record.word(ids.process);
    record.word(ids.thread);
    record.commit();
    slots_[oldest] = {ids, ++uses_};
    return oldest;
}

void ThreadTable::restart() {
    slots_.fill({});
}

}  // namespace tracer::fxt
