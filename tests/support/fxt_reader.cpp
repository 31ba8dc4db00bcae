// SPDX-License-Identifier: Apache-2.0
//
// Keeps all that a stream of records gives out, for tests that ask questions of a whole file. The
// texts are copied, each once. Relies on fxt_stream for reading and fxt_check for the rules across
// records; used by tests and by fxt_dump.
#include "support/fxt_reader.h"

#include "support/fxt_check.h"

#include <cerrno>
#include <fstream>
#include <utility>

#include <fmt/format.h>

namespace tracer::test {
namespace {

constexpr size_t kProblemsKept = 1000;
constexpr size_t kPieceBytes = size_t{1} << 20;  // read from a file at once

// Moves one record's texts and arguments into the file, and the record into its list.
class Keeper {
public:
    Keeper(FxtFile& file, std::span<const FxtArgument> arguments)
        : file_(file), first_argument_(file.arguments.size()) {
        for (FxtArgument argument : arguments) {
            keep(argument.name);
            if (auto* text = std::get_if<std::string_view>(&argument.value)) keep(*text);
            if (auto* blob = std::get_if<FxtBlob>(&argument.value)) keep(blob->data);
            file_.arguments.push_back(argument);
        }
    }

    // Each gives the place in its list.
    size_t operator()(FxtMagic) { return 0; }
    size_t operator()(FxtProvider record) {
        keep(record.name);
        return add(file_.providers, record);
    }
    size_t operator()(FxtProviderSection record) { return add(file_.provider_sections, record); }
    size_t operator()(FxtProviderEvent record) { return add(file_.provider_events, record); }
    size_t operator()(FxtInitialization record) { return add(file_.initializations, record); }
    size_t operator()(FxtString record) {
        keep(record.text);
        return add(file_.strings, record);
    }
    size_t operator()(FxtThread record) { return add(file_.threads, record); }
    size_t operator()(FxtEvent record) {
        keep(record.category);
        return add_with_arguments(file_.events, record);
    }
    size_t operator()(FxtBlobRecord record) {
        keep(record.name);
        keep(record.data);
        return add(file_.blobs, record);
    }
    size_t operator()(FxtUserspaceObject record) {
        return add_with_arguments(file_.userspace_objects, record);
    }
    size_t operator()(FxtKernelObject record) { return add_with_arguments(file_.objects, record); }
    size_t operator()(FxtSwitch record) {
        shift(record.arguments);
        return add(file_.switches, record);
    }
    size_t operator()(FxtWakeup record) {
        shift(record.arguments);
        return add(file_.wakeups, record);
    }
    size_t operator()(FxtLegacySwitch record) { return add(file_.legacy_switches, record); }
    size_t operator()(FxtLog record) {
        keep(record.message);
        return add(file_.logs, record);
    }
    size_t operator()(FxtLargeBlob record) {
        keep(record.category);
        keep(record.data);
        return add_with_arguments(file_.large_blobs, record);
    }
    size_t operator()(FxtSkipped record) { return add(file_.skips, record); }

private:
    void keep(std::string_view& text) { text = *file_.texts.emplace(text).first; }
    void shift(FxtArgumentRange& range) { range.first += first_argument_; }

    template <typename T>
    size_t add(std::vector<T>& list, const T& record) {
        list.push_back(record);
        return list.size() - 1;
    }
    template <typename T>
    size_t add_with_arguments(std::vector<T>& list, T& record) {
        keep(record.name);
        shift(record.arguments);
        return add(list, record);
    }

    FxtFile& file_;
    size_t first_argument_;
};

}  // namespace

void add_problem(FxtFile& file, uint64_t offset, std::string_view what) {
    file.problem_count += 1;
    if (file.problems.size() < kProblemsKept) {
        file.problems.push_back(fmt::format("at {:#x}: {}", offset, what));
    }
}

void FxtCollector::on_record(const FxtRecordView& record) {
    const size_t item = std::visit(Keeper(file_, record.arguments), record.payload);
    file_.records.push_back({record.offset, record.words, record.provider, record.kind(), item});
}

void FxtCollector::on_fault(const FxtFaultReport& report) {
    add_problem(file_, report.offset, describe(report));
}

FxtFile FxtCollector::finish() {
    stream_.finish();
    file_.counts = stream_.counts();
    file_.truncated_tail_bytes = file_.counts.truncated_tail_bytes;
    check_fxt(file_);
    return std::move(file_);
}

FxtFile parse_fxt(std::span<const std::byte> bytes, const FxtLimits& limits) {
    FxtCollector collector(limits);
    collector.feed(bytes);
    return collector.finish();
}

Result<FxtFile> load_fxt(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) return fail_errno(ErrorCode::not_found, errno, fmt::format("open {}", path));
    FxtCollector collector;
    std::vector<char> piece(kPieceBytes);
    while (stream) {
        stream.read(piece.data(), static_cast<std::streamsize>(piece.size()));
        collector.feed(std::as_bytes(std::span(piece)).first(static_cast<size_t>(stream.gcount())));
    }
    if (stream.bad()) return fail(ErrorCode::io, fmt::format("read {}", path));
    return collector.finish();
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
    return last_name(*this, kFxtObjectProcess, pid);
}

std::string_view FxtFile::thread_name(uint64_t tid) const {
    return last_name(*this, kFxtObjectThread, tid);
}

}  // namespace tracer::test
