// SPDX-License-Identifier: Apache-2.0
//
// Chunks in memory made files, so that the end of a recording loses none that nobody took.
#include "session/left_chunks.h"

#include "session/output_file.h"
#include "tracer/write/rotating_sink.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

namespace tracer {
namespace {

constexpr std::chrono::milliseconds kNoRoomWait{1};

// Waits where the disk is slower than memory.
Status write_chunk(RotatingSink& file, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const size_t size = std::min(bytes.size(), ByteSink::kReserveBytesMax);
        const std::span<std::byte> room = file.reserve(size);
        if (room.empty()) {
            TR_TRY(file.health());
            std::this_thread::sleep_for(kNoRoomWait);
            continue;
        }
        std::memcpy(room.data(), bytes.data(), size);
        file.commit(size);
        bytes = bytes.subspan(size);
    }
    return {};
}

}  // namespace

Result<std::vector<std::string>> write_chunks(ChunkMemorySink& chunks, const std::string& path) {
    std::unique_ptr<RotatingSink> file;
    while (const auto chunk = chunks.pop()) {
        if (file) TR_TRY(file->next_chunk());
        if (!file) {
            TR_ASSIGN(file, open_rotating_output_sink(path, {}, false));
        }
        TR_TRY(write_chunk(*file, chunk->bytes()));
    }
    if (!file) return std::vector<std::string>{};
    TR_TRY(file->close());
    return file->chunk_paths();
}

}  // namespace tracer
