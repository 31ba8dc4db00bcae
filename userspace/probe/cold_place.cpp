// SPDX-License-Identifier: Apache-2.0
//
// Places for probes that are to be never hit. The kernel raises a semaphore when it writes a
// breakpoint into a mapping of the file (update_ref_ctr in kernel/events/uprobes.c), whatever lies
// there, so the place has to be one where a breakpoint does no harm: behind the last byte of the
// code's segment, in the rest of its page; or, where there is no rest, in the unused bytes of the
// ELF header. The kernel writes into every private mapping of the place that it may make executable
// (valid_vma()), those of constants too: bytes of any other segment are out of the question.
// Called for the clause `raise`.
#include "probe/cold_place.h"

#include "probe/probed_instruction.h"

#include <algorithm>
#include <vector>

#include <elf.h>

namespace tracer {

namespace {

constexpr uint64_t kPageBytes = 4096;
// As the kernel copies it before it looks at it.
constexpr uint64_t kCodeBytes = kInstructionBytesMax;

bool is_in_a_segment(const ElfFile& file, uint64_t offset) {
    return std::ranges::any_of(file.segments(), [&](const ElfSegment& segment) {
        return offset >= segment.file_offset && offset - segment.file_offset < segment.file_bytes;
    });
}

bool takes_probe(const ElfFile& file, uint64_t offset) {
    if (offset >= file.size()) return false;
    const auto code = file.read(offset, std::min(kCodeBytes, file.size() - offset));
    return code && !is_refused_by_kernel(*code) && harm_of_probe(*code).empty();
}

// What is left of the last page of each segment of code.
std::vector<uint64_t> places_behind_code(const ElfFile& file) {
    std::vector<uint64_t> places;
    for (const ElfSegment& segment : file.segments()) {
        const uint64_t end = segment.file_offset + segment.file_bytes;
        if (!segment.is_executable || segment.file_bytes == 0 || end > file.size()) continue;
        const uint64_t page_end = (end + kPageBytes - 1) / kPageBytes * kPageBytes;
        for (uint64_t offset = end; offset < std::min(page_end, file.size()); ++offset) {
            if (!is_in_a_segment(file, offset)) places.push_back(offset);
        }
    }
    return places;
}

// EI_PAD: nothing reads them where they are mapped.
std::vector<uint64_t> places_in_header(const ElfFile& file) {
    std::vector<uint64_t> places;
    if (!is_in_a_segment(file, 0)) return places;
    for (uint64_t offset = EI_PAD; offset < EI_NIDENT; ++offset) places.push_back(offset);
    return places;
}

std::optional<uint64_t> choose(const ElfFile& file,
                               const std::vector<uint64_t>& places,
                               uint64_t semaphore_offset) {
    constexpr uint64_t kSemaphoreBytes = 2;
    for (size_t i = 0; i < places.size(); ++i) {
        const uint64_t place = places[(semaphore_offset / kSemaphoreBytes + i) % places.size()];
        if (takes_probe(file, place)) return place;
    }
    return std::nullopt;
}

}  // namespace

std::optional<uint64_t> find_cold_place(const ElfFile& file, uint64_t semaphore_offset) {
    const auto behind = choose(file, places_behind_code(file), semaphore_offset);
    return behind ? behind : choose(file, places_in_header(file), semaphore_offset);
}

}  // namespace tracer
