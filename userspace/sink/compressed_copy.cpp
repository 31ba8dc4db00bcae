// SPDX-License-Identifier: Apache-2.0
//
// zstd over a closed file. Runs on threads that may take their time: the rotating sink's second
// one, and the one that writes snapshots.
#include "sink/compressed_copy.h"

#include "sink/output_file.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>
#include <zstd.h>

#include <fmt/format.h>

namespace tracer {
namespace {

// zstd's own default: some 300 MB/s of a trace, a fifth to a tenth of its size.
constexpr int kLevel = 3;

Status write_all(int fd, const char* data, size_t bytes, const std::string& path) {
    while (bytes > 0) {
        const ssize_t count = ::write(fd, data, bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            return fail_errno(ErrorCode::io, count < 0 ? errno : EIO,
                              fmt::format("write {}", path));
        }
        data += count;
        bytes -= static_cast<size_t>(count);
    }
    return {};
}

using Context = std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)>;

Result<Context> make_context(uint64_t plain_bytes) {
    Context context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
    if (!context) return fail(ErrorCode::io, "no memory to compress with");
    for (const size_t error :
         {ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel),
          ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1),
          ZSTD_CCtx_setPledgedSrcSize(context.get(), plain_bytes)}) {
        if (ZSTD_isError(error) != 0) {
            return fail(ErrorCode::internal, fmt::format("zstd: {}", ZSTD_getErrorName(error)));
        }
    }
    return context;
}

}  // namespace

CompressedCopy::CompressedCopy(CompressedCopy&& other) noexcept
    : plain_path_(std::move(other.plain_path_)),
      fd_(std::move(other.fd_)),
      part_path_(std::exchange(other.part_path_, {})),
      bytes_(other.bytes_) {}

CompressedCopy::~CompressedCopy() {
    if (!part_path_.empty()) static_cast<void>(::unlink(part_path_.c_str()));
}

Result<CompressedCopy> CompressedCopy::make(const std::string& path,
                                            const CompressOptions& options,
                                            const std::function<bool()>& is_cancelled) {
    const UniqueFd plain(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!plain.valid()) return fail_errno(ErrorCode::io, errno, fmt::format("open {}", path));
    struct stat found {};
    if (::fstat(plain.get(), &found) != 0) {
        return fail_errno(ErrorCode::io, errno, fmt::format("look at {}", path));
    }
    CompressedCopy copy(path);
    TR_TRY(copy.open(options.owner));
    TR_TRY(copy.fill(plain.get(), static_cast<uint64_t>(found.st_size), is_cancelled));
    if (options.sync && ::fdatasync(copy.fd_.get()) != 0) {
        return fail_errno(ErrorCode::io, errno, fmt::format("sync {}", copy.path()));
    }
    return copy;
}

Status CompressedCopy::open(const std::optional<FileOwner>& owner) {
    const std::string folder = folder_of(plain_path_);
    fd_ = UniqueFd(::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
    if (!fd_.valid()) {
        const std::string part = path() + ".part";
        TR_ASSIGN(OutputFile file, make_output_file(part, owner));
        fd_ = std::move(file.fd);
        part_path_ = part;
        return {};
    }
    if (owner && ::fchown(fd_.get(), owner->uid, owner->gid) != 0) {
        return fail_errno(ErrorCode::io, errno,
                          fmt::format("give {} to user {}", path(), owner->uid));
    }
    return {};
}

Status CompressedCopy::fill(int plain_fd,
                            uint64_t plain_bytes,
                            const std::function<bool()>& is_cancelled) {
    TR_ASSIGN(const Context context, make_context(plain_bytes));
    std::vector<char> in(ZSTD_CStreamInSize());
    std::vector<char> out(ZSTD_CStreamOutSize());
    uint64_t left = plain_bytes;
    for (bool is_whole = false; !is_whole;) {
        if (is_cancelled()) return fail(ErrorCode::interrupted, "compressing was given up");
        const ssize_t count = ::read(plain_fd, in.data(), in.size());
        if (count < 0 && errno == EINTR) continue;
        // Somebody else cut it, or wrote to it.
        if (count < 0 || static_cast<uint64_t>(count) > left || (count == 0 && left > 0)) {
            return fail_errno(ErrorCode::io, count < 0 ? errno : EIO,
                              fmt::format("read {}", plain_path_));
        }
        left -= static_cast<uint64_t>(count);
        ZSTD_inBuffer input{in.data(), static_cast<size_t>(count), 0};
        size_t unwritten = 0;
        do {
            ZSTD_outBuffer output{out.data(), out.size(), 0};
            unwritten = ZSTD_compressStream2(context.get(), &output, &input,
                                             left == 0 ? ZSTD_e_end : ZSTD_e_continue);
            if (ZSTD_isError(unwritten) != 0) {
                return fail(ErrorCode::io, fmt::format("compress {}: {}", plain_path_,
                                                       ZSTD_getErrorName(unwritten)));
            }
            TR_TRY(write_all(fd_.get(), out.data(), output.pos, path()));
            bytes_ += output.pos;
            if (bytes_ >= plain_bytes) {
                return fail(ErrorCode::limit,
                            fmt::format("{} does not become smaller", plain_path_));
            }
        } while (input.pos < input.size || (left == 0 && unwritten != 0));
        is_whole = left == 0;
    }
    return {};
}

Status CompressedCopy::publish() {
    const std::string name = path();
    if (part_path_.empty()) {
        const std::string link = fmt::format("/proc/self/fd/{}", fd_.get());
        if (::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) {
            return fail_errno(ErrorCode::io, errno, fmt::format("make {}", name));
        }
    } else {
        if (::renameat2(AT_FDCWD, part_path_.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE) !=
            0) {
            return fail_errno(ErrorCode::io, errno, fmt::format("make {}", name));
        }
        part_path_.clear();
    }
    if (::unlink(plain_path_.c_str()) != 0 && errno != ENOENT) {
        return fail_errno(ErrorCode::io, errno, fmt::format("remove {}", plain_path_),
                          "the compressed one is whole");
    }
    return {};
}

}  // namespace tracer
