// SPDX-License-Identifier: Apache-2.0
//
// Reads a capture twice: which processes have hits, and then what of it is kept. Called by the
// program of the same name, which authors of packs run, and by its test.
#include "support/trim_capture.h"

#include "capture/capture_file.h"
#include "support/byte_vector_sink.h"
#include "tracer/abi/event.h"
#include "tracer/base/byte_cursor.h"

#include <cstring>
#include <set>
#include <string_view>
#include <utility>

namespace tracer::test {
namespace {

tr_record_header read_header(std::span<const std::byte> record) {
    tr_record_header header{};
    TR_CHECK(ByteCursor(record).read(header));
    return header;
}

// The processes with hits among the first `hits_max`.
class Survey : public CaptureVisitor {
public:
    explicit Survey(uint64_t hits_max) : hits_max_(hits_max) {}

    Status on_definitions(RecordingDefinitions) override { return {}; }
    Status on_counters(const CaptureCounters&) override { return {}; }
    void on_progress(uint64_t, uint64_t) override {}
    void on_record(std::span<const std::byte> record) override {
        const auto header = read_header(record);
        if (header.kind == TR_KIND_hit && hits_++ < hits_max_) processes_.insert(header.tgid);
    }
    [[nodiscard]] const std::set<uint32_t>& processes() const { return processes_; }

private:
    uint64_t hits_max_;
    uint64_t hits_ = 0;
    std::set<uint32_t> processes_;
};

class Trimmer : public CaptureVisitor {
public:
    Trimmer(CaptureWriter& writer, std::set<uint32_t> processes, uint64_t hits_max)
        : writer_(writer), processes_(std::move(processes)), hits_left_(hits_max) {}

    Status on_definitions(RecordingDefinitions definitions) override {
        if (std::exchange(is_open_, true)) {
            return writer_.add(definitions.points, definitions.probes);
        }
        definitions.host_name.clear();
        definitions.command_line.clear();
        definitions.recording.arguments.clear();
        return writer_.open(definitions);
    }
    Status on_counters(const CaptureCounters& counters) override {
        return writer_.write_counters(counters);
    }
    void on_progress(uint64_t, uint64_t) override {}

    void on_record(std::span<const std::byte> record) override {
        const auto header = read_header(record);
        switch (header.kind) {
            case TR_KIND_hit:
                if (hits_left_ == 0) return;
                --hits_left_;
                writer_.on_record(record);
                return;
            case TR_KIND_gap_begin:
            case TR_KIND_gap_end:
            case TR_KIND_clock:
                writer_.on_record(record);
                return;
            case TR_KIND_task_new:
            case TR_KIND_task_exit:
            case TR_KIND_task_rename:
            case TR_KIND_task_info:
            case TR_KIND_task_select:
                if (is_kept(header)) writer_.on_record(record);
                return;
            case TR_KIND_task_exec:
                if (is_kept(header)) write_exec(record);
                return;
            default:
                return;
        }
    }

private:
    [[nodiscard]] bool is_kept(const tr_record_header& header) const {
        return processes_.contains(header.tgid);
    }

    // The program's name without its folder.
    void write_exec(std::span<const std::byte> record) {
        tr_task_exec exec{};
        if (!ByteCursor(record).read(exec)) return;
        const std::string_view path(exec.path, ::strnlen(exec.path, sizeof(exec.path)));
        const std::string name(path.substr(path.rfind('/') + 1));
        std::memset(exec.path, 0, sizeof(exec.path));
        std::memcpy(exec.path, name.data(), name.size());
        exec.task.header.size = sizeof(exec);
        writer_.on_record(std::as_bytes(std::span(&exec, 1)));
    }

    CaptureWriter& writer_;
    std::set<uint32_t> processes_;
    uint64_t hits_left_;
    bool is_open_ = false;
};

}  // namespace

Result<std::vector<std::byte>> trim_capture(std::span<const std::byte> capture, uint64_t hits_max) {
    Survey survey(hits_max);
    TR_TRY(read_capture(capture, survey));
    ByteVectorSink sink;
    CaptureWriter writer(sink);
    Trimmer trimmer(writer, survey.processes(), hits_max);
    TR_ASSIGN(const auto summary, read_capture(capture, trimmer));
    if (!summary.has_definitions)
        return fail(ErrorCode::bad_input, "a capture without definitions");
    TR_TRY(writer.close());
    return sink.bytes();
}

}  // namespace tracer::test
