// SPDX-License-Identifier: Apache-2.0
//
// Reads captures: one block at a time into one buffer, everything checked before anything is
// delivered. The file may come from anyone, so no size in it is believed beyond the format's own
// limit, and no record is passed on whose size does not fit its block.
//
// Called by `tracer convert` and by tests; what it delivers to is usually the decoder.
#include "capture/capture_file.h"
#include "capture/capture_json.h"
#include "tracer/abi/event.h"
#include "tracer/base/byte_cursor.h"
#include "tracer/base/unique_fd.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {

namespace {

// Where a capture's bytes come from.
class Input {
public:
    virtual ~Input() = default;
    // Fills `out` as far as there is input; fewer bytes than asked for mean its end.
    [[nodiscard]] virtual Result<size_t> read(std::span<std::byte> out) = 0;
    // 0: unknown.
    [[nodiscard]] virtual uint64_t total() const = 0;
};

class FileInput : public Input {
public:
    explicit FileInput(int fd) : fd_(fd) {
        struct stat status {};
        if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
            total_ = static_cast<uint64_t>(status.st_size);
        }
    }

    [[nodiscard]] Result<size_t> read(std::span<std::byte> out) override {
        size_t filled = 0;
        while (filled < out.size()) {
            const ssize_t got = ::read(fd_, out.data() + filled, out.size() - filled);
            const int error = errno;
            if (got == 0) break;
            if (got > 0) {
                filled += static_cast<size_t>(got);
            } else if (error != EINTR) {
                return fail_errno(ErrorCode::io, error, "read the capture");
            }
        }
        return filled;
    }

    [[nodiscard]] uint64_t total() const override { return total_; }

private:
    int fd_;
    uint64_t total_ = 0;
};

class BytesInput : public Input {
public:
    explicit BytesInput(std::span<const std::byte> bytes) : bytes_(bytes) {}

    [[nodiscard]] Result<size_t> read(std::span<std::byte> out) override {
        const size_t count = std::min(out.size(), bytes_.size() - position_);
        if (count != 0) std::memcpy(out.data(), bytes_.data() + position_, count);
        position_ += count;
        return count;
    }

    [[nodiscard]] uint64_t total() const override { return bytes_.size(); }

private:
    std::span<const std::byte> bytes_;  // the caller's, for the time of the read
    size_t position_ = 0;
};

class CaptureReader {
public:
    CaptureReader(Input& input, CaptureVisitor& visitor)
        : input_(input), visitor_(visitor), buffer_(kCaptureBlockBytesMax + 8) {}

    [[nodiscard]] Result<CaptureSummary> read();

private:
    [[nodiscard]] Status read_file_header();
    [[nodiscard]] Result<bool> read_block();
    [[nodiscard]] Status take_block(uint32_t type, std::span<const std::byte> payload);
    [[nodiscard]] Status take_definitions(std::string_view text);
    [[nodiscard]] Status take_counters(std::string_view text);
    [[nodiscard]] Status take_records(std::span<const std::byte> payload, bool is_cut);
    [[nodiscard]] Status view_records(std::span<const std::byte> payload, bool is_cut);
    void end_cut(uint64_t bytes);
    [[nodiscard]] std::span<std::byte> front(size_t bytes) { return {buffer_.data(), bytes}; }

    Input& input_;
    CaptureVisitor& visitor_;
    std::vector<std::byte> buffer_;
    std::vector<RecordView> records_;  // of the block under way, in buffer_
    uint64_t position_ = 0;            // of the block under way
    CaptureSummary summary_;
    DefinitionsParser definitions_;
    CountersParser counters_;
};

Result<CaptureSummary> CaptureReader::read() {
    TR_TRY(read_file_header());
    for (;;) {
        auto more = read_block();
        if (!more) {
            return tl::unexpected(
                std::move(more).error().within(fmt::format("block at byte {}", position_)));
        }
        visitor_.on_progress(position_, input_.total());
        if (!*more) return summary_;
    }
}

Status CaptureReader::read_file_header() {
    constexpr size_t kFileHeaderBytes = 16;
    TR_ASSIGN(const size_t got, input_.read(front(kFileHeaderBytes)));
    ByteCursor cursor(front(got));
    const auto magic = cursor.take(sizeof(kCaptureMagic));
    if (!magic || std::memcmp(magic->data(), kCaptureMagic, sizeof(kCaptureMagic)) != 0) {
        return fail(ErrorCode::bad_input, "not a raw capture (its first 8 bytes are other)",
                    "captures are what tracer -o NAME.traw writes");
    }
    uint16_t major = 0;
    uint32_t reserved = 0;
    if (!cursor.read(major) || !cursor.read(summary_.abi_minor) || !cursor.read(reserved)) {
        return fail(ErrorCode::bad_input, "the capture ends within its header");
    }
    if (major != TR_ABI_MAJOR) {
        return fail(ErrorCode::bad_input,
                    fmt::format("the capture has format version {}, this program reads version {}",
                                major, TR_ABI_MAJOR),
                    "use the tracer that recorded it");
    }
    position_ = kFileHeaderBytes;
    return {};
}

// Reads and delivers one block; false at the end of the input.
Result<bool> CaptureReader::read_block() {
    constexpr size_t kBlockHeaderBytes = 8;
    TR_ASSIGN(const size_t head_bytes, input_.read(front(kBlockHeaderBytes)));
    if (head_bytes == 0) return false;
    if (head_bytes < kBlockHeaderBytes) {
        end_cut(head_bytes);
        position_ += head_bytes;
        return false;
    }
    ByteCursor cursor(front(kBlockHeaderBytes));
    uint32_t type = 0;
    uint32_t bytes = 0;
    if (!cursor.read(type) || !cursor.read(bytes)) return fail(ErrorCode::internal, "block header");
    if (bytes > kCaptureBlockBytesMax) {
        return fail(ErrorCode::bad_input, fmt::format("it claims {} bytes, more than the {} that "
                                                      "a block can have",
                                                      bytes, kCaptureBlockBytesMax));
    }
    const size_t with_padding = (bytes + size_t{7}) / 8 * 8;
    TR_ASSIGN(const size_t got, input_.read(front(with_padding)));
    const auto payload = std::span<const std::byte>(front(std::min<size_t>(got, bytes)));
    if (got < with_padding) {
        if (static_cast<CaptureBlock>(type) == CaptureBlock::records) {
            TR_TRY(take_records(payload, true));
            end_cut(summary_.bytes_cut);
        } else {
            end_cut(kBlockHeaderBytes + got);
        }
        position_ += kBlockHeaderBytes + got;
        return false;
    }
    TR_TRY(take_block(type, payload));
    position_ += kBlockHeaderBytes + with_padding;
    return true;
}

Status CaptureReader::take_block(uint32_t type, std::span<const std::byte> payload) {
    // A string_view over bytes is the one cast that the language allows for reading text in place.
    const std::string_view text(static_cast<const char*>(static_cast<const void*>(payload.data())),
                                payload.size());
    switch (static_cast<CaptureBlock>(type)) {
        case CaptureBlock::definitions:
            return take_definitions(text);
        case CaptureBlock::records:
            return take_records(payload, false);
        case CaptureBlock::counters:
            return take_counters(text);
    }
    ++summary_.unknown_blocks;
    return {};
}

Status CaptureReader::take_definitions(std::string_view text) {
    auto is_whole = definitions_.parse(text);
    if (!is_whole) return tl::unexpected(std::move(is_whole).error().within("definitions"));
    if (!*is_whole) return {};
    summary_.has_definitions = true;
    return visitor_.on_definitions(definitions_.take());
}

Status CaptureReader::take_counters(std::string_view text) {
    auto is_whole = counters_.parse(text);
    if (!is_whole) return tl::unexpected(std::move(is_whole).error().within("counters"));
    if (!*is_whole) return {};
    summary_.has_counters = true;
    return visitor_.on_counters(counters_.counters());
}

// Delivers the records of one block. In a cut block the last record may be a part of one: what is
// left is counted in bytes_cut.
Status CaptureReader::take_records(std::span<const std::byte> payload, bool is_cut) {
    if (!summary_.has_definitions) {
        return fail(ErrorCode::bad_input, "records before any definitions");
    }
    records_.clear();
    Status status = view_records(payload, is_cut);
    summary_.records += records_.size();
    if (!records_.empty()) visitor_.on_records(records_);
    return status;
}

Status CaptureReader::view_records(std::span<const std::byte> payload, bool is_cut) {
    size_t offset = 0;
    while (offset < payload.size()) {
        const size_t left = payload.size() - offset;
        const std::byte* const data = payload.data() + offset;
        uint16_t size = 0;
        if (left >= sizeof(size)) std::memcpy(&size, data, sizeof(size));
        const bool is_plausible =
            size >= sizeof(tr_record_header) && size % 8 == 0 && size <= TR_RECORD_BYTES_MAX;
        if (is_cut && (left < sizeof(size) || (is_plausible && size > left))) {
            summary_.bytes_cut = left;
            return {};
        }
        if (!is_plausible || size > left) {
            return fail(ErrorCode::bad_input,
                        fmt::format("a record of {} bytes where {} are left", size, left));
        }
        records_.push_back(view_record(data, size));
        offset += size;
    }
    return {};
}

void CaptureReader::end_cut(uint64_t bytes) {
    summary_.is_cut = true;
    summary_.bytes_cut = bytes;
}

Result<CaptureSummary> read_from(Input& input, CaptureVisitor& visitor) {
    return CaptureReader(input, visitor).read();
}

}  // namespace

Result<CaptureSummary> read_capture(const std::string& path, CaptureVisitor& visitor) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const int error = errno;
    if (!fd.valid()) {
        const auto code = error == ENOENT   ? ErrorCode::not_found
                          : error == EACCES ? ErrorCode::permission
                                            : ErrorCode::io;
        return fail_errno(code, error, "open " + path);
    }
    auto summary = read_capture(fd.get(), visitor);
    if (!summary) return tl::unexpected(std::move(summary).error().within(path));
    return summary;
}

Result<CaptureSummary> read_capture(int fd, CaptureVisitor& visitor) {
    FileInput input(fd);
    return read_from(input, visitor);
}

Result<CaptureSummary> read_capture(std::span<const std::byte> bytes, CaptureVisitor& visitor) {
    BytesInput input(bytes);
    return read_from(input, visitor);
}

}  // namespace tracer
