// SPDX-License-Identifier: Apache-2.0
//
// Keeps blocks whole: a reader that finds one cut takes what follows for the rest of it. Relies on
// ByteSink::write telling how much it took; used by Log and by writers that own their buffers.
#include "tracer/write/eventlog/block_stream.h"

#include "tracer/write/eventlog/header.h"

#include <array>

namespace tracer::eventlog {

BlockFate WholeWriter::put(std::span<const std::byte> bytes) {
    const size_t taken = pay() ? sink_->write(bytes) : 0;
    if (taken == 0 && !bytes.empty()) {
        return sink_->health() ? BlockFate::no_room : BlockFate::sink_failed;
    }
    const auto rest = bytes.subspan(taken);
    owed_.assign(rest.begin(), rest.end());
    paid_ = 0;
    return BlockFate::taken;
}

bool WholeWriter::pay() {
    if (owed_bytes() != 0) paid_ += sink_->write(std::span(owed_).subspan(paid_));
    return owed_bytes() == 0;
}

Status BlockStream::write_header(const Dialect& dialect) {
    const std::vector<std::byte> header = make_header(dialect);
    if (header.size() > ByteSink::kReserveBytesMax || out_.put(header) != BlockFate::taken) {
        TR_TRY(out_.sink().health());
        return fail(ErrorCode::limit, "no room for the header of an eventlog");
    }
    open_cap_.reset();
    return {};
}

BlockFate BlockStream::write_block(std::span<const std::byte> block, const BlockInfo& info) {
    if (mode_ == BlockMode::closed) return out_.put(block);
    const auto events = block.subspan(kBlockMarkerBytes);
    if (open_cap_ == info.cap) return out_.put(events);

    std::array<std::byte, kBlockMarkerBytes> marker{};
    std::memcpy(marker.data(), block.data(), marker.size());
    store_big(marker.data() + kEventHeaderBytes, uint32_t{0});  // its length
    const BlockFate fate = out_.put(marker);
    if (fate != BlockFate::taken) return fate;
    open_cap_ = info.cap;
    // A marker alone does no harm, so the events may still find no room.
    return out_.put(events);
}

Status BlockStream::write_end() {
    std::array<std::byte, sizeof(kEndOfData)> mark{};
    store_big(mark.data(), kEndOfData);
    open_cap_.reset();
    if (out_.put(mark) == BlockFate::taken && out_.pay()) return {};
    TR_TRY(out_.sink().health());
    return fail(ErrorCode::limit, "no room for the end of an eventlog");
}

void BlockStream::flush() {
    out_.pay();  // what is still owed, the next block or flush tries again
    out_.sink().flush();
}

}  // namespace tracer::eventlog
