// SPDX-License-Identifier: Apache-2.0
//
// Takes one record of a Fuchsia trace apart, from the format's document. Every read is checked: a
// file may be cut, damaged or hostile. A record that is too short for what it says it holds has no
// effect at all; other faults leave what could be read. Called by fxt_stream.
#include "support/fxt_parser.h"

#include <bit>

namespace tracer::test {
namespace {

constexpr uint64_t kStringBytesMax = 32000;  // the document's limit; the field has room for more
constexpr uint64_t kInlineString = 0x8000;

}  // namespace

uint64_t FxtWords::next() {
    uint64_t word = 0;
    if (!cursor_.read(word)) overran = true;
    return word;
}

std::string_view FxtWords::text(uint64_t length) {
    if (length > cursor_.remaining()) {
        overran = true;
        return {};
    }
    const auto padded = static_cast<size_t>((length + 7) / 8 * 8);
    const auto bytes = cursor_.take(padded);
    if (!bytes) {
        overran = true;
        return {};
    }
    if (padded == 0) return {};
    const void* first = bytes->data();
    const std::string_view whole{static_cast<const char*>(first), padded};
    for (const char byte : whole.substr(static_cast<size_t>(length))) {
        if (byte != 0) padding_is_zero = false;
    }
    return whole.substr(0, static_cast<size_t>(length));
}

FxtParser::FxtParser(FxtVisitor& visitor, const FxtLimits& limits)
    : visitor_(visitor), limits_(limits) {
    // What comes before any provider is that of no name and of id 0.
    provider_ = &providers_[0];
}

void FxtParser::report(FxtFault fault, uint64_t found, uint64_t expected) {
    visitor_.on_fault({fault, offset_, found, expected});
}

void FxtParser::expect_zero(uint64_t word, unsigned low, unsigned width) {
    if (fxt_bits(word, low, width) != 0) report(FxtFault::reserved_bits, low, low + width - 1);
}

FxtPayload FxtParser::unknown(FxtFault fault, uint64_t type) {
    report(fault, type);
    return FxtSkipped{record_type_, FxtSkipReason::unknown_type};
}

void FxtParser::parse(uint64_t offset, std::span<const std::byte> record) {
    offset_ = offset;
    arguments_.clear();
    FxtWords words(record);
    const uint64_t header = words.next();
    record_type_ = static_cast<uint8_t>(fxt_bits(header, 0, 4));
    FxtPayload payload = parse_payload(header, words);
    if (words.overran) {
        report(FxtFault::too_short);
        payload = FxtSkipped{record_type_, FxtSkipReason::damaged};
    }
    if (!words.padding_is_zero) report(FxtFault::padding);
    if (!std::holds_alternative<FxtSkipped>(payload)) {
        if (words.words_left() > 0) report(FxtFault::too_long, words.words_left());
        enter(payload);
    } else {
        arguments_.clear();
    }
    visitor_.on_record({offset, record.size() / 8, provider_id_, payload, arguments_});
}

void FxtParser::skip(uint64_t offset, uint64_t words, uint8_t record_type) {
    visitor_.on_record(
        {offset, words, provider_id_, FxtSkipped{record_type, FxtSkipReason::too_large}, {}});
}

FxtPayload FxtParser::parse_payload(uint64_t header, FxtWords& words) {
    switch (record_type_) {
        case 0:
            return parse_metadata(header, words);
        case 1:
            return parse_initialization(header, words);
        case 2:
            return parse_string(header, words);
        case 3:
            return parse_thread(header, words);
        case 4:
            return parse_event(header, words);
        case 5:
            return parse_blob(header, words);
        case 6:
            return parse_userspace_object(header, words);
        case 7:
            return parse_kernel_object(header, words);
        case 8:
            return parse_scheduling(header, words);
        case 9:
            return parse_log(header, words);
        case 10:
            return FxtSkipped{record_type_, FxtSkipReason::profiler};
        case 15:
            return parse_large(header, words);
        default:
            return unknown(FxtFault::record_type, record_type_);
    }
}

// What a whole record changes for those behind it.
void FxtParser::enter(const FxtPayload& payload) {
    if (const auto* string = std::get_if<FxtString>(&payload)) {
        enter_string(*string);
    } else if (const auto* thread = std::get_if<FxtThread>(&payload)) {
        if (thread->index == 0) {
            report(FxtFault::thread_index_zero);
        } else {
            provider_->threads[thread->index] = {thread->pid, thread->tid};
        }
    } else if (const auto* provider = std::get_if<FxtProvider>(&payload)) {
        select_provider(provider->id);
        // Its tables are its own and begin empty, also when it is introduced again.
        clear(*provider_);
    } else if (const auto* section = std::get_if<FxtProviderSection>(&payload)) {
        if (!providers_.contains(section->id)) report(FxtFault::provider_undefined, section->id);
        select_provider(section->id);
    }
}

void FxtParser::select_provider(uint32_t id) {
    provider_id_ = id;
    if (providers_.contains(id) || providers_.size() < limits_.providers_max) {
        provider_ = &providers_[id];
        return;
    }
    report(FxtFault::providers_too_many, id, limits_.providers_max);
    clear(unlisted_);
    provider_ = &unlisted_;
}

void FxtParser::clear(Provider& provider) {
    for (const auto& [index, text] : provider.strings) table_bytes_ -= text.size();
    provider.strings.clear();
    provider.threads.clear();
}

void FxtParser::enter_string(const FxtString& string) {
    if (string.index == 0) {
        report(FxtFault::string_index_zero);
        return;
    }
    const auto known = provider_->strings.find(string.index);
    const size_t freed = known == provider_->strings.end() ? 0 : known->second.size();
    if (table_bytes_ - freed + string.text.size() > limits_.table_bytes_max) {
        report(FxtFault::string_table_full, string.index, limits_.table_bytes_max);
        // The text that the index had would be a wrong name.
        if (known != provider_->strings.end()) provider_->strings.erase(known);
        table_bytes_ -= freed;
        return;
    }
    provider_->strings[string.index] = string.text;
    table_bytes_ += string.text.size() - freed;
}

std::string_view FxtParser::text_of(uint64_t length, FxtWords& words) {
    if (length > kStringBytesMax) report(FxtFault::string_too_long, length, kStringBytesMax);
    return words.text(length);
}

std::string_view FxtParser::resolve_string(uint64_t ref, FxtWords& words) {
    if (ref == 0) return {};
    if ((ref & kInlineString) != 0) return text_of(ref & ~kInlineString, words);
    const auto known = provider_->strings.find(static_cast<uint16_t>(ref));
    if (known == provider_->strings.end()) {
        report(FxtFault::string_undefined, ref);
        return {};
    }
    return known->second;
}

FxtParser::Thread FxtParser::resolve_thread(uint64_t ref, FxtWords& words) {
    if (ref == 0) {
        Thread thread;
        thread.pid = words.next();
        thread.tid = words.next();
        return thread;
    }
    const auto known = provider_->threads.find(static_cast<uint8_t>(ref));
    if (known == provider_->threads.end()) {
        report(FxtFault::thread_undefined, ref);
        return {};
    }
    return known->second;
}

FxtArgumentRange FxtParser::parse_arguments(uint64_t count, FxtWords& words) {
    for (uint64_t i = 0; i < count && !words.overran; ++i) {
        arguments_.push_back(parse_argument(words));
    }
    return {0, arguments_.size()};
}

FxtArgument FxtParser::parse_argument(FxtWords& words) {
    const size_t left_before = words.words_left();
    const uint64_t header = words.next();
    const uint64_t said = fxt_bits(header, 4, 12);
    FxtArgument argument;
    argument.name = resolve_string(fxt_bits(header, 16, 16), words);
    argument.value = parse_value(fxt_bits(header, 0, 4), header, words);
    const size_t used = left_before - words.words_left();
    if (!words.overran && used != said) report(FxtFault::argument_size, said, used);
    return argument;
}

FxtValue FxtParser::parse_value(uint64_t type, uint64_t header, FxtWords& words) {
    const auto low_word = static_cast<uint32_t>(fxt_bits(header, 32, 32));
    switch (type) {
        case 1:
            return static_cast<int32_t>(low_word);
        case 2:
            return low_word;
        case 6:
            expect_zero(header, 48, 16);
            return resolve_string(fxt_bits(header, 32, 16), words);
        case 9:
            expect_zero(header, 33, 31);
            return fxt_bits(header, 32, 1) == 1;
        case 10:
            return FxtBlob{words.text(low_word)};
        default:
            break;
    }
    expect_zero(header, 32, 32);
    switch (type) {
        case 0:
            return std::monostate{};
        case 3:
            return static_cast<int64_t>(words.next());
        case 4:
            return words.next();
        case 5:
            return std::bit_cast<double>(words.next());
        case 7:
            return FxtPointer{words.next()};
        case 8:
            return FxtKoid{words.next()};
        default:
            report(FxtFault::argument_type, type);
            return std::monostate{};
    }
}

}  // namespace tracer::test
