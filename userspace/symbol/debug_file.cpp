// SPDX-License-Identifier: Apache-2.0
//
// The search for separate debug files. The names come from the program, which is untrusted: of a
// debug link only a plain file name is taken, and what is found must prove that it belongs. Called
// by the symbol tables and by the readers of debug information.
#include "symbol/debug_file.h"

#include "symbol/debuginfod.h"
#include "tracer/base/byte_cursor.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <climits>
#include <cstdlib>
#include <lzma.h>

#include <elf.h>
#include <fmt/format.h>

namespace tracer {

namespace {

constexpr size_t kLinkBytesMax = 4096;
constexpr uint64_t kMiniBytesMax = 256ull << 20;
constexpr uint64_t kMiniMemoryMax = 64ull << 20;  // of the decoder; xz -9 takes 65 MiB at most
constexpr uint64_t kChunkBytes = 1 << 20;

struct DebugLink {
    std::string name;
    uint32_t crc = 0;
};

// Section .gnu_debuglink: a file name, NUL, padding to four bytes, CRC-32.
std::optional<DebugLink> read_debug_link(const ElfFile& file) {
    const auto* section = file.section(".gnu_debuglink");
    if (section == nullptr || section->bytes > kLinkBytesMax) return std::nullopt;
    const auto content = file.read_section(*section);
    if (!content) return std::nullopt;
    const auto name = string_at(*content, 0);
    if (!name || name->empty() || name->find('/') != std::string_view::npos || *name == "..") {
        return std::nullopt;
    }
    ByteCursor cursor(*content);
    DebugLink link;
    const size_t padded = (name->size() + 1 + 3) / 4 * 4;
    if (!cursor.skip(padded) || !cursor.read(link.crc)) return std::nullopt;
    link.name = *name;
    return link;
}

// "/proc/PID/root" for a file that is opened through /proc/PID: the world that it lives in. Empty
// for our own.
std::string world_of(const std::string& path) {
    constexpr std::string_view kProc = "/proc/";
    if (!path.starts_with(kProc)) return {};
    const auto end = std::find_if_not(path.begin() + kProc.size(), path.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
    const std::string process(path.begin(), end);
    if (process.size() == kProc.size() || end == path.end()) return {};
    return process + "/root";
}

// The folder of the file as its own world calls it: links under /proc/PID lead there.
std::string folder_of(const std::string& path, const std::string& world) {
    std::string name = path;
    if (!world.empty() && path.starts_with(world + "/")) {
        name = path.substr(world.size());
    } else {
        std::array<char, PATH_MAX> resolved{};
        if (::realpath(path.c_str(), resolved.data()) != nullptr) name = resolved.data();
    }
    const auto slash = name.rfind('/');
    return slash == std::string::npos ? "." : name.substr(0, slash);
}

class Search {
public:
    Search(const ElfFile& file, const DebugFileSearch& search)
        : file_(file), search_(search), build_id_(file.build_id()), link_(read_debug_link(file)) {}

    DebugFile run() {
        const auto world = world_of(file_.name());
        const auto folder = folder_of(file_.name(), world);
        try_world(world, folder);
        if (!world.empty()) try_world({}, folder);
        if (!found_.file && search_.use_debuginfod && !build_id_.empty()) {
            auto path = fetch_from_debuginfod(build_id_);
            if (path) {
                try_path(*path);
            } else {
                found_.refused.push_back(std::move(path).error().what);
            }
        }
        return std::move(found_);
    }

private:
    void try_world(const std::string& world, const std::string& folder) {
        if (build_id_.size() > 2) {
            try_path(fmt::format("{}{}/.build-id/{}/{}.debug", world, search_.folder,
                                 build_id_.substr(0, 2), build_id_.substr(2)));
        }
        if (!link_) return;
        try_path(fmt::format("{}{}/{}", world, folder, link_->name));
        try_path(fmt::format("{}{}/.debug/{}", world, folder, link_->name));
        try_path(fmt::format("{}{}{}/{}", world, search_.folder, folder, link_->name));
    }

    void try_path(const std::string& path) {
        if (found_.file) return;
        auto candidate = ElfFile::open(path);
        // The program itself may have the name that it links to.
        if (!candidate || candidate->identity() == file_.identity()) return;
        auto reason = reason_against(*candidate);
        if (reason.empty()) {
            found_.file = std::move(*candidate);
        } else {
            found_.refused.push_back(
                fmt::format("{} is not used for {}: {}", path, file_.name(), reason));
        }
    }

    // Empty: it belongs to the file.
    [[nodiscard]] std::string reason_against(const ElfFile& candidate) const {
        const auto id = candidate.build_id();
        if (!build_id_.empty() && !id.empty()) {
            if (id != build_id_) return "its build-id is another's";
        } else if (!link_) {
            return "neither has a build-id or CRC that would prove that they belong together";
        } else if (debug_link_crc(candidate.bytes()).value_or(~link_->crc) != link_->crc) {
            return "its CRC is not the one that the program names";
        }
        const auto* own = file_.section(".text");
        const auto* other = candidate.section(".text");
        if (own != nullptr && other != nullptr && own->vaddr != other->vaddr) {
            return fmt::format("its code is linked at {:#x}, the program's at {:#x} (prelinked?)",
                               other->vaddr, own->vaddr);
        }
        return {};
    }

    const ElfFile& file_;
    const DebugFileSearch& search_;
    std::string build_id_;
    std::optional<DebugLink> link_;
    DebugFile found_;
};

constexpr std::array<uint32_t, 256> make_crc_table() {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < table.size(); ++i) {
        uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) {
            value = (value & 1) != 0 ? 0xedb88320u ^ (value >> 1) : value >> 1;
        }
        table[i] = value;
    }
    return table;
}

}  // namespace

DebugFile find_debug_file(const ElfFile& file, const DebugFileSearch& search) {
    return Search(file, search).run();
}

Result<uint32_t> debug_link_crc(const FileBytes& bytes) {
    static constexpr auto kTable = make_crc_table();
    uint32_t crc = ~0u;
    for (uint64_t offset = 0; offset < bytes.size(); offset += kChunkBytes) {
        TR_ASSIGN(const auto chunk,
                  bytes.read(offset, std::min(kChunkBytes, bytes.size() - offset)));
        for (const auto byte : chunk) {
            crc = kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xff] ^ (crc >> 8);
        }
    }
    return ~crc;
}

std::optional<ElfFile> read_mini_debug_info(const ElfFile& file) {
    const auto* section = file.section(".gnu_debugdata");
    if (section == nullptr) return std::nullopt;
    const auto packed = file.read_section(*section);
    if (!packed) return std::nullopt;
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, kMiniMemoryMax, 0) != LZMA_OK) return std::nullopt;
    std::vector<uint8_t> input(packed->size());
    std::transform(packed->begin(), packed->end(), input.begin(),
                   [](std::byte byte) { return static_cast<uint8_t>(byte); });
    stream.next_in = input.data();
    stream.avail_in = input.size();
    std::vector<std::byte> text;
    std::vector<uint8_t> chunk(kChunkBytes);
    auto state = LZMA_OK;
    // Each turn fills a chunk or ends: the decoder reports a lack of progress as an error.
    while (state == LZMA_OK && text.size() < kMiniBytesMax) {
        stream.next_out = chunk.data();
        stream.avail_out = chunk.size();
        state = lzma_code(&stream, LZMA_FINISH);
        const auto end = chunk.end() - static_cast<std::ptrdiff_t>(stream.avail_out);
        std::transform(chunk.begin(), end, std::back_inserter(text),
                       [](uint8_t byte) { return std::byte{byte}; });
    }
    lzma_end(&stream);
    if (state != LZMA_STREAM_END) return std::nullopt;
    auto elf = ElfFile::from_bytes(FileBytes::from_memory(std::move(text), file.name()));
    if (!elf) return std::nullopt;
    return std::move(*elf);
}

}  // namespace tracer
