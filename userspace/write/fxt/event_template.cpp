// SPDX-License-Identifier: Apache-2.0
//
// Making event templates, and their events from values that come at run time. The fast calls are in
// the header; made and used by whoever writes a trace.
#include "tracer/write/fxt/event_template.h"

namespace tracer::fxt {
namespace {

bool has_lasting_index(const StringRef& ref) {
    return !ref.is_inline() && ref.generation() == 0;
}

}  // namespace

tl::expected<EventShape, Fault> EventShape::make(const StringRef& category,
                                                 const StringRef& name,
                                                 std::span<const ArgumentShape> arguments) {
    if (arguments.size() > kArgumentsMax) return tl::unexpected(Fault::too_many_arguments);
    if (!has_lasting_index(category) || !has_lasting_index(name)) {
        return tl::unexpected(Fault::needs_index);
    }
    EventShape shape;
    std::array<ArgumentType, kArgumentsMax> types{};
    for (size_t i = 0; i < arguments.size(); ++i) {
        const ArgumentShape& argument = arguments[i];
        if (!has_lasting_index(argument.name)) return tl::unexpected(Fault::needs_index);
        if (argument.type >= ArgumentType::blob) return tl::unexpected(Fault::wrong_type);
        const size_t words = 1 + value_words(argument.type);
        types[i] = argument.type;
        shape.headers_[i] = fxt::argument_header(argument.type, words, argument.name.bits());
        shape.words_ += words;
    }
    shape.signature_ = signature_of(std::span(types).first(arguments.size()));
    shape.names_ = event_names(category.bits(), name.bits());
    return shape;
}

tl::expected<EventTemplate, Fault> EventTemplate::make(Stream& stream,
                                                       EventType type,
                                                       const ThreadRef& thread,
                                                       const StringRef& category,
                                                       const StringRef& name,
                                                       std::span<const ArgumentShape> arguments) {
    if (type > EventType::flow_end) return tl::unexpected(Fault::wrong_type);
    const auto shape = EventShape::make(category, name, arguments);
    if (!shape) return tl::unexpected(shape.error());
    Fault fault = stream.strings_.use(category);
    if (fault == Fault::none) fault = stream.strings_.use(name);
    for (const ArgumentShape& argument : arguments) {
        if (fault == Fault::none) fault = stream.strings_.use(argument.name);
        if (type == EventType::counter && !Stream::can_be_counted(argument.type)) {
            fault = Fault::wrong_type;
        }
    }
    if (fault != Fault::none) return tl::unexpected(fault);

    const bool is_callers_slot = thread.slot() != 0 && thread.generation() == 0;
    if (is_callers_slot) {
        const auto slot = stream.threads_.use(stream.window_, thread);
        if (!slot) return tl::unexpected(slot.error());
        return EventTemplate(stream, type, *slot, *shape);
    }
    const auto pinned = stream.pinned_thread(thread.ids());
    if (!pinned) return tl::unexpected(pinned.error());
    return EventTemplate(stream, type, pinned->slot(), *shape);
}

Outcome EventTemplate::checked_write(uint64_t time,
                                     uint64_t last_word,
                                     std::span<const Number> values) {
    if (values.size() != shape_.count()) return stream_->refuse(Fault::wrong_count);
    for (size_t i = 0; i < values.size(); ++i) {
        if (values[i].type != shape_.type(i)) return stream_->refuse(Fault::wrong_type);
    }
    if (type_ == EventType::duration_complete && last_word < time) {
        return stream_->refuse(Fault::end_before_start);
    }
    const bool has_last_word = trailing_words(type_) != 0;
    if (!stream_->is_ready()) return stream_->refuse(Fault::no_room);
    Record record(stream_->window_, shape_.words() + (has_last_word ? 1 : 0));
    if (!record.has_room()) return stream_->refuse(Fault::no_room);
    record.word(header_);
    record.word(time);
    for (size_t i = 0; i < values.size(); ++i) {
        const bool has_word = value_words(values[i].type) != 0;
        record.word(shape_.argument_header(i) | (has_word ? 0 : values[i].bits));
        if (has_word) record.word(values[i].bits);
    }
    if (has_last_word) record.word(last_word);
    record.commit();
    return {};
}

}  // namespace tracer::fxt
