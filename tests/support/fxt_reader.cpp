// SPDX-License-Identifier: Apache-2.0
//
// Takes a Fuchsia trace apart, record by record, from the format's document. Every read is
// checked: a file under test may be cut, damaged or hostile. Used by tests and by fxt_dump.
#include "support/fxt_reader.h"

#include "support/fxt_parser.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

namespace tracer::test {
namespace {

constexpr size_t kProblemsKept = 1000;
constexpr uint64_t kMagic = 0x0016547846040010;

uint64_t bits(uint64_t word, unsigned low, unsigned width) {
    return (word >> low) & ((uint64_t{1} << width) - 1);
}

}  // namespace

uint64_t FxtWords::next() {
    uint64_t word = 0;
    if (bytes_.size() - position_ < sizeof(word)) {
        overran = true;
        return 0;
    }
    std::memcpy(&word, bytes_.data() + position_, sizeof(word));
    position_ += sizeof(word);
    return word;
}

std::string_view FxtWords::text(size_t length) {
    const size_t padded = (length + 7) / 8 * 8;
    if (bytes_.size() - position_ < padded) {
        overran = true;
        return {};
    }
    std::string_view whole;
    if (padded > 0) {
        const void* at = bytes_.data() + position_;
        whole = {static_cast<const char*>(at), padded};
    }
    position_ += padded;
    for (const char byte : whole.substr(length)) {
        if (byte != 0) padding_is_zero = false;
    }
    return whole.substr(0, length);
}

void add_problem(FxtFile& file, uint64_t offset, std::string_view what) {
    file.problem_count += 1;
    if (file.problems.size() < kProblemsKept) {
        file.problems.push_back(fmt::format("at {:#x}: {}", offset, what));
    }
}

void FxtParser::problem(std::string_view what) {
    add_problem(file_, offset_, what);
}

void FxtParser::expect_zero(uint64_t word, unsigned low, unsigned width) {
    if (bits(word, low, width) != 0) {
        problem(fmt::format("reserved bits {}..{} are not zero", low, low + width - 1));
    }
}

std::string_view FxtParser::keep(std::string_view text) {
    return *file_.texts.emplace(text).first;
}

void FxtParser::parse(std::span<const std::byte> bytes) {
    uint64_t first = 0;
    if (bytes.size() >= 8) std::memcpy(&first, bytes.data(), 8);
    if (first != kMagic) problem("the file does not begin with the magic record");
    while (bytes.size() - offset_ >= 8) {
        uint64_t header = 0;
        std::memcpy(&header, bytes.data() + offset_, 8);
        const bool is_large = bits(header, 0, 4) == 15;
        const uint64_t words = is_large ? bits(header, 4, 32) : bits(header, 4, 12);
        if (is_large) problem("large record: Perfetto loses its place there");
        if (words == 0) {
            problem("a record of no words; the rest cannot be read");
            return;
        }
        if (words > (bytes.size() - offset_) / 8) break;
        parse_record(bytes.subspan(offset_, words * 8));
        offset_ += words * 8;
    }
    file_.truncated_tail_bytes = bytes.size() - offset_;
}

void FxtParser::parse_record(std::span<const std::byte> bytes) {
    FxtWords words(bytes);
    const uint64_t header = words.next();
    FxtRecordKind kind = FxtRecordKind::skipped;
    item_ = 0;
    switch (bits(header, 0, 4)) {
        case 0:
            kind = parse_metadata(header, words);
            break;
        case 1:
            kind = parse_initialization(header, words);
            break;
        case 2:
            kind = parse_string(header, words);
            break;
        case 3:
            kind = parse_thread(header, words);
            break;
        case 4:
            kind = parse_event(header, words);
            break;
        case 5:
            kind = parse_blob(header, words);
            break;
        case 7:
            kind = parse_kernel_object(header, words);
            break;
        case 8:
            kind = parse_scheduling(header, words);
            break;
        case 6:
        case 9:
        case 10:
        case 15:
            break;
        default:
            problem(fmt::format("record of unknown type {}", bits(header, 0, 4)));
    }
    if (words.overran) problem("the record is too short for what it says it holds");
    if (!words.padding_is_zero) problem("padding after a text is not zero");
    if (kind != FxtRecordKind::skipped && !words.overran && !words.at_end()) {
        problem(fmt::format("{} words too many in the record", words.words_left()));
    }
    file_.records.push_back({offset_, static_cast<uint16_t>(bits(header, 4, 12)), kind, item_});
}

FxtRecordKind FxtParser::parse_metadata(uint64_t header, FxtWords& words) {
    switch (bits(header, 16, 4)) {
        case 1: {
            expect_zero(header, 60, 4);
            item_ = file_.providers.size();
            const auto id = static_cast<uint32_t>(bits(header, 20, 32));
            file_.providers.push_back({id, keep(words.text(bits(header, 52, 8)))});
            // A provider's tables are its own, and begin empty.
            strings_.clear();
            threads_.fill({});
            return FxtRecordKind::provider_info;
        }
        case 2:
            expect_zero(header, 52, 12);
            return FxtRecordKind::provider_section;
        case 3:
            expect_zero(header, 56, 8);
            return FxtRecordKind::provider_event;
        case 4:
            if (header != kMagic) problem("trace information other than the magic number");
            return FxtRecordKind::magic;
        default:
            problem(fmt::format("metadata of unknown type {}", bits(header, 16, 4)));
            return FxtRecordKind::skipped;
    }
}

FxtRecordKind FxtParser::parse_initialization(uint64_t header, FxtWords& words) {
    expect_zero(header, 16, 48);
    item_ = file_.tick_rates.size();
    file_.tick_rates.push_back(words.next());
    if (file_.tick_rates.back() == 0) problem("no ticks per second");
    return FxtRecordKind::initialization;
}

FxtRecordKind FxtParser::parse_string(uint64_t header, FxtWords& words) {
    expect_zero(header, 31, 1);
    expect_zero(header, 47, 17);
    const auto index = static_cast<uint16_t>(bits(header, 16, 15));
    const std::string_view text = keep(words.text(bits(header, 32, 15)));
    if (index == 0) problem("a string of index 0");
    if (text.size() > 32000) problem("a string longer than 32,000 bytes");
    strings_[index] = text;
    item_ = file_.strings.size();
    file_.strings.push_back({index, text});
    return FxtRecordKind::string;
}

FxtRecordKind FxtParser::parse_thread(uint64_t header, FxtWords& words) {
    expect_zero(header, 24, 40);
    const auto index = static_cast<uint8_t>(bits(header, 16, 8));
    FxtThread thread{index, 0, 0};
    thread.pid = words.next();
    thread.tid = words.next();
    if (index == 0) problem("a thread of index 0");
    threads_[index] = thread;
    item_ = file_.threads.size();
    file_.threads.push_back(thread);
    return FxtRecordKind::thread;
}

std::string_view FxtParser::resolve_string(uint64_t ref, FxtWords& words) {
    if (ref == 0) return {};
    if ((ref & 0x8000) != 0) {
        const std::string_view text = words.text(ref & 0x7fff);
        if (text.size() > 32000) problem("a text longer than 32,000 bytes");
        return keep(text);
    }
    const auto known = strings_.find(static_cast<uint16_t>(ref));
    if (known == strings_.end()) {
        problem(fmt::format("string {} is not defined", ref));
        return {};
    }
    return known->second;
}

FxtRecordKind FxtParser::parse_event(uint64_t header, FxtWords& words) {
    const uint64_t type = bits(header, 16, 4);
    if (type > static_cast<uint64_t>(FxtEventType::flow_end)) {
        problem(fmt::format("event of unknown type {}", type));
        return FxtRecordKind::skipped;
    }
    FxtEvent event;
    event.type = static_cast<FxtEventType>(type);
    event.time = words.next();
    const uint64_t slot = bits(header, 24, 8);
    if (slot == 0) {
        event.pid = words.next();
        event.tid = words.next();
    } else if (const auto& thread = threads_[slot]; thread.has_value()) {
        event.pid = thread->pid;
        event.tid = thread->tid;
    } else {
        problem(fmt::format("thread {} is not defined", slot));
    }
    event.category = resolve_string(bits(header, 32, 16), words);
    event.name = resolve_string(bits(header, 48, 16), words);
    event.arguments = parse_arguments(bits(header, 20, 4), words);
    switch (event.type) {
        case FxtEventType::instant:
        case FxtEventType::duration_begin:
        case FxtEventType::duration_end:
            break;
        default:
            event.last_word = words.next();
    }
    item_ = file_.events.size();
    file_.events.push_back(event);
    return FxtRecordKind::event;
}

FxtArgumentRange FxtParser::parse_arguments(size_t count, FxtWords& words) {
    const FxtArgumentRange range{file_.arguments.size(), count};
    for (size_t i = 0; i < count; ++i) file_.arguments.push_back(parse_argument(words));
    return range;
}

FxtArgument FxtParser::parse_argument(FxtWords& words) {
    const size_t left_before = words.words_left();
    const uint64_t header = words.next();
    const auto type = static_cast<unsigned>(bits(header, 0, 4));
    FxtArgument argument;
    argument.name = resolve_string(bits(header, 16, 16), words);
    if (argument.name.find_first_of(".[]") != std::string_view::npos) {
        problem(fmt::format("argument name {} reads as a path", argument.name));
    }
    argument.value = parse_value(type, header, words);
    const size_t used = left_before - words.words_left();
    if (!words.overran && used != bits(header, 4, 12)) {
        problem(fmt::format("argument {} says {} words and has {}", argument.name,
                            bits(header, 4, 12), used));
    }
    return argument;
}

FxtValue FxtParser::parse_value(unsigned type, uint64_t header, FxtWords& words) {
    const auto low_word = static_cast<uint32_t>(bits(header, 32, 32));
    switch (type) {
        case 1:
            return static_cast<int32_t>(low_word);
        case 2:
            return low_word;
        case 6:
            expect_zero(header, 48, 16);
            return resolve_string(bits(header, 32, 16), words);
        case 9:
            expect_zero(header, 33, 31);
            return bits(header, 32, 1) == 1;
        case 10:
            static_cast<void>(words.text(low_word));
            return FxtBlob{low_word};
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
            problem(fmt::format("argument of unknown type {}", type));
            return std::monostate{};
    }
}

FxtRecordKind FxtParser::parse_kernel_object(uint64_t header, FxtWords& words) {
    expect_zero(header, 44, 20);
    FxtKernelObject object;
    object.type = static_cast<uint8_t>(bits(header, 16, 8));
    object.koid = words.next();
    object.name = resolve_string(bits(header, 24, 16), words);
    object.arguments = parse_arguments(bits(header, 40, 4), words);
    item_ = file_.objects.size();
    file_.objects.push_back(object);
    return FxtRecordKind::kernel_object;
}

FxtRecordKind FxtParser::parse_scheduling(uint64_t header, FxtWords& words) {
    switch (bits(header, 60, 4)) {
        case 1:
            return parse_switch(header, words);
        case 2:
            return parse_wakeup(header, words);
        default:
            problem(fmt::format("scheduling record of subtype {}", bits(header, 60, 4)));
            return FxtRecordKind::skipped;
    }
}

FxtRecordKind FxtParser::parse_switch(uint64_t header, FxtWords& words) {
    expect_zero(header, 40, 20);
    FxtSwitch record;
    record.cpu = static_cast<uint16_t>(bits(header, 20, 16));
    record.out_state = static_cast<uint8_t>(bits(header, 36, 4));
    record.time = words.next();
    record.out_tid = words.next();
    record.in_tid = words.next();
    record.arguments = parse_arguments(bits(header, 16, 4), words);
    item_ = file_.switches.size();
    file_.switches.push_back(record);
    return FxtRecordKind::context_switch;
}

FxtRecordKind FxtParser::parse_wakeup(uint64_t header, FxtWords& words) {
    expect_zero(header, 36, 24);
    FxtWakeup record;
    record.cpu = static_cast<uint16_t>(bits(header, 20, 16));
    record.time = words.next();
    record.tid = words.next();
    record.arguments = parse_arguments(bits(header, 16, 4), words);
    item_ = file_.wakeups.size();
    file_.wakeups.push_back(record);
    return FxtRecordKind::wakeup;
}

FxtRecordKind FxtParser::parse_blob(uint64_t header, FxtWords& words) {
    expect_zero(header, 47, 1);
    expect_zero(header, 56, 8);
    static_cast<void>(resolve_string(bits(header, 16, 16), words));
    static_cast<void>(words.text(bits(header, 32, 15)));
    return FxtRecordKind::blob;
}

FxtFile parse_fxt(std::span<const std::byte> bytes) {
    FxtFile file;
    FxtParser(file).parse(bytes);
    check_fxt(file);
    return file;
}

Result<FxtFile> load_fxt(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) return fail_errno(ErrorCode::not_found, errno, fmt::format("open {}", path));
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (stream.bad()) return fail(ErrorCode::io, fmt::format("read {}", path));
    return parse_fxt(std::as_bytes(std::span(text)));
}

const FxtValue* FxtFile::find(FxtArgumentRange range, std::string_view name) const {
    for (const FxtArgument& argument : arguments_of(range)) {
        if (argument.name == name) return &argument.value;
    }
    return nullptr;
}

namespace {

std::string_view last_name(const FxtFile& file, uint8_t type, uint64_t koid) {
    for (auto object = file.objects.rbegin(); object != file.objects.rend(); ++object) {
        if (object->type == type && object->koid == koid) return object->name;
    }
    return {};
}

}  // namespace

std::string_view FxtFile::process_name(uint64_t pid) const {
    return last_name(*this, 1, pid);
}

std::string_view FxtFile::thread_name(uint64_t tid) const {
    return last_name(*this, 2, tid);
}

}  // namespace tracer::test
