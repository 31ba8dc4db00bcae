// SPDX-License-Identifier: Apache-2.0
//
// The file that a producer writes to. It is made under its final name, exclusively, and is valid
// for readers when the first word of its metadata is, which is stored last. A lock on it (flock,
// which the kernel drops with the process, whatever ends it) says that its producer lives: a file
// of the same name without one is a dead process's and is replaced, never reused, so that readers
// of the old one keep what they have. Blocks are reserved before anything is stored through the
// mapping, because a store without a block behind it is a SIGBUS on a full disk. Used by
// ring_control.c under its lock.
#include "ring/producer/ring_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAMES_BYTES ((uint64_t)TR_RING_NAMES * TR_RING_NAME_BYTES)
#define TRAILER_BYTES (sizeof(struct tr_ring_trailer) + TR_RING_TYPES_BYTES)
#define NAMES_RESERVED_AT_ONCE 4096u
#define CREATE_ATTEMPTS 4

uint64_t tr_ring_clock_ns(int clock) {
    struct timespec now = {0, 0};
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool tr_ring_read_text(const char* path, char* text, size_t text_bytes) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const ssize_t count = read(fd, text, text_bytes - 1);
    close(fd);
    if (count < 0) return false;
    text[count] = '\0';
    return true;
}

uint64_t tr_ring_start_ticks(const char* stat_path) {
    char text[1024];
    if (!tr_ring_read_text(stat_path, text, sizeof(text))) return 0;
    // The second field is a name in parentheses, which may have anything in it.
    const char* field = strrchr(text, ')');
    for (int i = 2; field != NULL && i < 22; ++i) field = strchr(field + 1, ' ');
    return field != NULL ? strtoull(field + 1, NULL, 10) : 0;
}

// ---- its name ---------------------------------------------------------------------------------

// Takes away the name if it is still that of the open file. Async-signal-safe.
static int unlink_own(int fd, const char* path) {
    struct stat opened;
    struct stat named;
    const bool is_own = fstat(fd, &opened) == 0 && lstat(path, &named) == 0 &&
                        named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
    return !is_own || unlink(path) == 0 || errno == ENOENT ? 0 : -errno;
}

// Takes the name of a dead process's file away. -EEXIST: it is not that.
static int remove_stale(const char* path) {
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT ? 0 : -EEXIST;
    struct stat opened;
    int result = -EEXIST;
    if (fstat(fd, &opened) == 0 && S_ISREG(opened.st_mode) && opened.st_uid == geteuid() &&
        (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)) {
        // The name may be another file's by now, whose maker has replaced the stale one.
        result = unlink_own(fd, path);
    }
    close(fd);
    return result;
}

// The descriptor of a new file, or a negative errno.
static int create_in(const char* directory, pid_t pid, char* path) {
    const int length = snprintf(path, PATH_MAX, "%s/%d.events", directory, (int)pid);
    if (length < 0 || length >= PATH_MAX) return -ENAMETOOLONG;
    for (int i = 0; i < CREATE_ATTEMPTS; ++i) {
        const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0) {
            // File systems without locks only lose the protection against our like in another pid
            // namespace; between the two calls such a one may have taken this for a stale file.
            struct stat status;
            flock(fd, LOCK_EX | LOCK_NB);
            if (fstat(fd, &status) == 0 && status.st_nlink != 0) return fd;
            close(fd);
            continue;
        }
        if (errno != EEXIST) return -errno;
        const int error = remove_stale(path);
        if (error != 0) return error;
    }
    return -EEXIST;
}

static int create_in_memory(pid_t pid, char* path) {
    char name[32];
    // Readers find it in /proc/PID/maps by the end of this name.
    snprintf(name, sizeof(name), "%d.events", (int)pid);
    const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -errno;
    fchmod(fd, 0600);
    snprintf(path, PATH_MAX, "/proc/%d/fd/%d", (int)pid, fd);
    return fd;
}

// ---- its contents -----------------------------------------------------------------------------

int tr_ring_file_reserve(const struct tr_ring_file* file, uint64_t offset, uint64_t bytes) {
    int error = 0;
    do {
        error = fallocate(file->fd, 0, (off_t)offset, (off_t)bytes) == 0 ? 0 : errno;
    } while (error == EINTR);
    if (error != EOPNOTSUPP && error != ENOSYS) return -error;
    // The file system cannot; zeros written to what was never written take blocks as well.
    static const char zeros[4096];
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t rest = bytes - done;
        const size_t wanted = rest < sizeof(zeros) ? (size_t)rest : sizeof(zeros);
        const ssize_t count = pwrite(file->fd, zeros, wanted, (off_t)(offset + done));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return count < 0 ? -errno : -ENOSPC;
        done += (uint64_t)count;
    }
    return 0;
}

struct tr_ring_header* tr_ring_file_header(const struct tr_ring_file* file, uint32_t ring) {
    return (struct tr_ring_header*)(file->base + sizeof(struct tr_ring_metadata)) + ring;
}

struct tr_ring_trailer* tr_ring_file_trailer(const struct tr_ring_file* file) {
    return (struct tr_ring_trailer*)(file->base + file->names_offset + NAMES_BYTES);
}

uint64_t tr_ring_file_ring_offset(const struct tr_ring_file* file, uint32_t ring) {
    return file->data_offset + ring * file->ring_words * sizeof(uint64_t);
}

static void lay_out(struct tr_ring_file* file, const struct tr_ring_settings* settings) {
    file->ring_count = settings->ring_count;
    file->ring_words = (uint64_t)1 << settings->words_log2;
    file->data_offset = sizeof(struct tr_ring_metadata) +
                        (uint64_t)file->ring_count * sizeof(struct tr_ring_header);
    file->names_offset = tr_ring_file_ring_offset(file, file->ring_count);
    file->is_clock_counted = settings->is_clock_counted;
    file->names_reserved = 0;
    file->bytes = file->names_offset + NAMES_BYTES + TRAILER_BYTES;
}

static void write_trailer(const struct tr_ring_file* file, pid_t parent) {
    struct tr_ring_trailer* trailer = tr_ring_file_trailer(file);
    trailer->magic = TR_RING_TRAILER_MAGIC;
    trailer->major = TR_RING_TRAILER_MAJOR;
    trailer->minor = TR_RING_TRAILER_MINOR;
    trailer->bytes = sizeof(*trailer);
    trailer->pid = (uint32_t)file->pid;
    trailer->parent_pid = (uint32_t)parent;
    trailer->clock = file->is_clock_counted ? TR_RING_CLOCK_COUNTED : TR_RING_CLOCK_READ;
    trailer->start_ticks = tr_ring_start_ticks("/proc/self/stat");
    trailer->monotonic_ns = tr_ring_clock_ns(CLOCK_MONOTONIC);
    trailer->realtime_ns = tr_ring_clock_ns(CLOCK_REALTIME);
    trailer->boottime_ns = tr_ring_clock_ns(CLOCK_BOOTTIME);
    snprintf(trailer->runtime, sizeof(trailer->runtime), "tracer_ring %s", TRACER_RING_VERSION);
    char boot_id[64] = "";
    tr_ring_read_text("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
    memcpy(trailer->boot_id, boot_id, strcspn(boot_id, "\n") % sizeof(trailer->boot_id));
}

static void write_metadata(const struct tr_ring_file* file) {
    struct tr_ring_metadata* metadata = (struct tr_ring_metadata*)file->base;
    metadata->ring_count = file->ring_count;
    metadata->ring_header_bytes = sizeof(struct tr_ring_header);
    metadata->ring_bytes = file->ring_words * sizeof(uint64_t);
    metadata->ring_words = file->ring_words;
    metadata->headers_offset = sizeof(struct tr_ring_metadata);
    metadata->data_offset = file->data_offset;
    metadata->names_offset = file->names_offset;
    __atomic_store_n(&metadata->version, TR_RING_VERSION, __ATOMIC_RELEASE);
}

// Growing a file past this limit is no error but a signal that ends the program (SIGXFSZ).
static bool is_beyond_limit(uint64_t bytes) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           bytes > limit.rlim_cur;
}

static int fill(struct tr_ring_file* file, pid_t parent) {
    if (is_beyond_limit(file->bytes)) return -EFBIG;
    if (ftruncate(file->fd, (off_t)file->bytes) != 0) return -errno;
    // What everything else needs, and the first ring: without one there is nothing to begin with.
    const uint64_t first_end = tr_ring_file_ring_offset(file, 1);
    int error = tr_ring_file_reserve(file, 0, first_end);
    if (error == 0) {
        error = tr_ring_file_reserve(file, file->names_offset + NAMES_BYTES, TRAILER_BYTES);
    }
    if (error != 0) return error;
    // Readers may map a file that cannot shrink under them.
    if (!file->has_name) fcntl(file->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    void* base = mmap(NULL, file->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
    if (base == MAP_FAILED) return -errno;
    file->base = base;
    write_trailer(file, parent);
    write_metadata(file);
    return 0;
}

// `directory` NULL: in memory.
static int open_in(struct tr_ring_file* file, const char* directory, pid_t parent) {
    file->has_name = directory != NULL;
    file->fd = file->has_name ? create_in(directory, file->pid, file->path)
                              : create_in_memory(file->pid, file->path);
    if (file->fd < 0) return file->fd;
    const int error = fill(file, parent);
    if (error != 0) tr_ring_file_close(file, false);
    return error;
}

// The user's own: nobody else can have made a file or a link there.
static const char* runtime_directory(void) {
    const char* directory = secure_getenv("XDG_RUNTIME_DIR");
    struct stat status;
    const bool is_ours = directory != NULL && directory[0] == '/' &&
                         stat(directory, &status) == 0 && S_ISDIR(status.st_mode) &&
                         status.st_uid == geteuid();
    return is_ours ? directory : NULL;
}

int tr_ring_file_open(struct tr_ring_file* file,
                      const struct tr_ring_settings* settings,
                      pid_t parent) {
    memset(file, 0, sizeof(*file));
    file->pid = getpid();
    lay_out(file, settings);
    if (settings->directory[0] != '\0') return open_in(file, settings->directory, parent);
    if (settings->is_memory) return open_in(file, NULL, parent);
    const char* directory = runtime_directory();
    if (directory != NULL && open_in(file, directory, parent) == 0) return 0;
    if (open_in(file, "/dev/shm", parent) == 0) return 0;
    return open_in(file, NULL, parent);
}

int tr_ring_file_set_event(struct tr_ring_file* file,
                           uint32_t id,
                           const char* name,
                           enum tr_ring_registered type) {
    const uint64_t begin = (uint64_t)id * TR_RING_NAME_BYTES;
    while (file->names_reserved < begin + TR_RING_NAME_BYTES) {
        const int error = tr_ring_file_reserve(file, file->names_offset + file->names_reserved,
                                               NAMES_RESERVED_AT_ONCE);
        if (error != 0) return error;
        file->names_reserved += NAMES_RESERVED_AT_ONCE;
    }
    // A reader asks for the name when it meets the id, or again later: nothing tells it sooner.
    uint64_t words[TR_RING_NAME_BYTES / sizeof(uint64_t)] = {0};
    memcpy(words, name, strlen(name));
    uint64_t* slot = (uint64_t*)(file->base + file->names_offset + begin);
    for (size_t i = sizeof(words) / sizeof(words[0]); i-- > 0;) {
        __atomic_store_n(&slot[i], words[i], i == 0 ? __ATOMIC_RELEASE : __ATOMIC_RELAXED);
    }
    unsigned char* types = (unsigned char*)(tr_ring_file_trailer(file) + 1);
    __atomic_store_n(&types[id], (unsigned char)type, __ATOMIC_RELEASE);
    return 0;
}

void tr_ring_file_set_state(const struct tr_ring_file* file, enum tr_ring_file_state state) {
    __atomic_store_n(&tr_ring_file_trailer(file)->state, state, __ATOMIC_RELEASE);
}

void tr_ring_file_unlink(const struct tr_ring_file* file) {
    // A child of fork has its parent's path here until it has a file of its own.
    if (file->has_name && file->pid == getpid()) unlink_own(file->fd, file->path);
}

void tr_ring_file_close(struct tr_ring_file* file, bool is_preserved) {
    if (!is_preserved) tr_ring_file_unlink(file);
    if (file->base != NULL) munmap(file->base, file->bytes);
    if (file->fd >= 0) close(file->fd);
    file->base = NULL;
    file->fd = -1;
}
