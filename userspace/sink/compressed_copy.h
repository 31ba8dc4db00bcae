// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"
#include "tracer/write/sinks.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tracer {

inline constexpr const char* kZstdSuffix = ".zst";

struct CompressOptions {
    std::optional<FileOwner> owner;  // the file is given to this user
    bool sync = false;               // to the disk before it has a name
};

// A file that nobody writes to any more, compressed by zstd (RFC 8878, with a checksum) beside it.
// It has no name before publish(), so that a name always stands for a whole file: whoever is killed
// meanwhile leaves the plain one alone (and, on file systems without O_TMPFILE, NAME.zst.part).
// One thread.
class CompressedCopy {
public:
    // Reads and compresses all of `path`, into a file with mode 0600. Asked between blocks,
    // `is_cancelled` ends it with ErrorCode::interrupted. A copy that is no smaller is an error
    // (limit): so the two never take more than twice the file's bytes.
    [[nodiscard]] static Result<CompressedCopy> make(const std::string& path,
                                                     const CompressOptions& options,
                                                     const std::function<bool()>& is_cancelled);
    ~CompressedCopy();
    CompressedCopy(CompressedCopy&& other) noexcept;
    CompressedCopy& operator=(CompressedCopy&&) = delete;
    CompressedCopy(const CompressedCopy&) = delete;
    CompressedCopy& operator=(const CompressedCopy&) = delete;

    // Gives it the name path().zst; what has the name already is an error and left alone. Then
    // removes the plain file.
    [[nodiscard]] Status publish();

    [[nodiscard]] const std::string& plain_path() const { return plain_path_; }
    [[nodiscard]] std::string path() const { return plain_path_ + kZstdSuffix; }
    [[nodiscard]] int fd() const { return fd_.get(); }
    [[nodiscard]] uint64_t bytes() const { return bytes_; }

private:
    explicit CompressedCopy(std::string plain_path) : plain_path_(std::move(plain_path)) {}
    [[nodiscard]] Status open(const std::optional<FileOwner>& owner);
    [[nodiscard]] Status fill(int plain_fd,
                              uint64_t plain_bytes,
                              const std::function<bool()>& is_cancelled);

    std::string plain_path_;
    UniqueFd fd_;
    std::string part_path_;  // the name meanwhile, where there must be one
    uint64_t bytes_ = 0;
};

}  // namespace tracer
