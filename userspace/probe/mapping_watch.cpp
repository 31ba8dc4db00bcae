// SPDX-License-Identifier: Apache-2.0
//
// PERF_RECORD_MMAP2 of a software event that counts nothing (PERF_COUNT_SW_DUMMY), one on each CPU,
// each with a small ring: the kernel's only report of executable mappings that needs neither
// polling nor a probe. Every record wakes the reader (watermark of one byte), because each moment
// until a file is armed is a moment of missing hits. Its clock is BOOTTIME, as in all records of
// ours. A CPU that comes online later is not watched. Used by the session's discovery thread.
#include "probe/mapping_watch.h"

#include "tracer/base/byte_cursor.h"
#include "tracer/base/unique_fd.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <linux/perf_event.h>
#include <string_view>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tracer {
namespace {

// A record is some 120 bytes, a program's start some six of them.
constexpr size_t kRingBytes = 128 << 10;

// Of a record without its file's name.
struct MappingHead {
    perf_event_header header;
    uint32_t pid;
    uint32_t tid;
    uint64_t address;
    uint64_t bytes;
    uint64_t page_offset;
    uint32_t device_major;
    uint32_t device_minor;
    uint64_t inode;
    uint64_t generation;
    uint32_t protection;
    uint32_t flags;
};
static_assert(sizeof(MappingHead) == 72);

struct LostRecord {
    perf_event_header header;
    uint64_t id;
    uint64_t lost;
};

// The ring of one CPU's event, which only this process reads.
class EventRing {
public:
    static Result<EventRing> open(int cpu);
    EventRing(EventRing&& other) noexcept
        : event_(std::move(other.event_)),
          page_bytes_(other.page_bytes_),
          memory_(std::exchange(other.memory_, nullptr)) {}
    EventRing& operator=(EventRing&&) = delete;
    EventRing(const EventRing&) = delete;
    EventRing& operator=(const EventRing&) = delete;
    ~EventRing() {
        if (memory_ != nullptr) munmap(memory_, page_bytes_ + kRingBytes);
    }

    [[nodiscard]] int fd() const { return event_.get(); }

    // Hands over every whole record; their bytes die with the call.
    template <typename Function>
    void drain(Function on_record);

private:
    EventRing() = default;
    void copy(uint64_t position, std::span<std::byte> out) const;

    UniqueFd event_;
    size_t page_bytes_ = 0;
    void* memory_ = nullptr;  // a page of positions, then the data
};

Result<EventRing> EventRing::open(int cpu) {
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_DUMMY;
    attributes.sample_type = PERF_SAMPLE_TIME;
    attributes.sample_id_all = 1;
    attributes.mmap = 1;  // executable mappings alone; mmap_data would add the others
    attributes.mmap2 = 1;
    attributes.watermark = 1;
    attributes.wakeup_watermark = 1;
    attributes.use_clockid = 1;
    attributes.clockid = CLOCK_BOOTTIME;
    EventRing ring;
    ring.event_.reset(static_cast<int>(
        syscall(__NR_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
    if (!ring.event_.valid()) {
        const int sys_errno = errno;
        const bool is_denied = sys_errno == EACCES || sys_errno == EPERM;
        return fail_errno(is_denied ? ErrorCode::permission : ErrorCode::missing_feature, sys_errno,
                          "watch for new mappings");
    }
    ring.page_bytes_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* memory = mmap(nullptr, ring.page_bytes_ + kRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                        ring.event_.get(), 0);
    if (memory == MAP_FAILED) {
        return fail_errno(ErrorCode::limit, errno, "map the ring of new mappings");
    }
    ring.memory_ = memory;
    return ring;
}

void EventRing::copy(uint64_t position, std::span<std::byte> out) const {
    const auto* data = static_cast<const std::byte*>(memory_) + page_bytes_;
    const size_t begin = position % kRingBytes;
    const size_t first = std::min(out.size(), kRingBytes - begin);
    std::memcpy(out.data(), data + begin, first);
    std::memcpy(out.data() + first, data, out.size() - first);
}

template <typename Function>
void EventRing::drain(Function on_record) {
    auto* page = static_cast<perf_event_mmap_page*>(memory_);
    // __u64 is unsigned long long, our uint64_t is unsigned long: no common atomic_ref.
    const uint64_t head = std::atomic_ref<__u64>(page->data_head).load(std::memory_order_acquire);
    uint64_t tail = page->data_tail;  // written by us alone
    std::vector<std::byte> record;
    while (tail < head) {
        perf_event_header header{};
        copy(tail, std::as_writable_bytes(std::span(&header, 1)));
        if (header.size < sizeof(header) || header.size > head - tail) {
            tail = head;  // the kernel never writes such a one; what follows cannot be found
            break;
        }
        record.resize(header.size);
        copy(tail, record);
        on_record(header.type, std::span<const std::byte>(record));
        tail += header.size;
    }
    std::atomic_ref<__u64>(page->data_tail).store(tail, std::memory_order_release);
}

class PerfMappingWatch final : public MappingWatch {
public:
    Status open_rings();
    [[nodiscard]] int fd() const override { return epoll_.get(); }
    [[nodiscard]] uint64_t read(std::vector<NewMapping>& out) override;

private:
    std::vector<EventRing> rings_;
    UniqueFd epoll_;
};

Status PerfMappingWatch::open_rings() {
    epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
    if (!epoll_.valid()) return fail_errno(ErrorCode::internal, errno, "make an epoll");
    const long cpus = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < cpus; ++cpu) {
        auto ring = EventRing::open(cpu);
        if (!ring && ring.error().sys_errno == ENODEV) continue;  // offline
        if (!ring) return tl::unexpected(std::move(ring).error());
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.u32 = static_cast<uint32_t>(rings_.size());
        if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, ring->fd(), &event) != 0) {
            return fail_errno(ErrorCode::internal, errno, "watch the ring of new mappings");
        }
        rings_.push_back(std::move(*ring));
    }
    return {};
}

uint64_t PerfMappingWatch::read(std::vector<NewMapping>& out) {
    uint64_t lost = 0;
    for (EventRing& ring : rings_) {
        ring.drain([&](uint32_t type, std::span<const std::byte> bytes) {
            if (type == PERF_RECORD_MMAP2) {
                if (auto mapping = parse_mapping_record(bytes)) out.push_back(std::move(*mapping));
            } else if (type == PERF_RECORD_LOST) {
                LostRecord record{};
                if (ByteCursor(bytes).read(record)) lost += record.lost;
            }
        });
    }
    return lost;
}

}  // namespace

Result<std::unique_ptr<MappingWatch>> MappingWatch::open() {
    auto watch = std::make_unique<PerfMappingWatch>();
    TR_TRY(watch->open_rings());
    return watch;
}

std::optional<NewMapping> parse_mapping_record(std::span<const std::byte> record) {
    ByteCursor cursor(record);
    MappingHead head{};
    if (!cursor.read(head) || head.header.type != PERF_RECORD_MMAP2) return std::nullopt;
    if ((head.header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID) != 0) return std::nullopt;
    if (head.inode == 0 || head.bytes > UINT64_MAX - head.address) return std::nullopt;
    NewMapping mapping;
    // The name, padded with zeros to a multiple of 8, then the time.
    if (cursor.remaining() < sizeof(uint64_t)) return std::nullopt;
    const auto name = cursor.take(cursor.remaining() - sizeof(uint64_t));
    if (!name || !cursor.read(mapping.time_ns)) return std::nullopt;
    const auto end = std::ranges::find(*name, std::byte{0});
    if (end == name->end()) return std::nullopt;
    for (auto byte = name->begin(); byte != end; ++byte) {
        mapping.path.push_back(static_cast<char>(*byte));
    }
    // "//anon", "[vdso]" and the like; a name that could not be made is "//enomem" or "//toolong".
    if (!mapping.path.starts_with('/') || mapping.path.starts_with("//")) return std::nullopt;
    constexpr std::string_view kDeletedMark = " (deleted)";
    if (mapping.path.ends_with(kDeletedMark)) {
        mapping.path.resize(mapping.path.size() - kDeletedMark.size());
    }
    mapping.pid = head.pid;
    mapping.tid = head.tid;
    mapping.start = head.address;
    mapping.end = head.address + head.bytes;
    mapping.device_major = head.device_major;
    mapping.device_minor = head.device_minor;
    mapping.inode = head.inode;
    mapping.generation = head.generation;
    return mapping;
}

}  // namespace tracer
