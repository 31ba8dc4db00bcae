// SPDX-License-Identifier: Apache-2.0
//
// User events: a table of those registered, a hash of their names, and the writing functions that
// take them. A record is checked against its event's type here, so that readers can rely on one
// type an id. Entries are never moved or freed: an event is good for the program's life.
#include "ring/producer/ring_events.h"

#include "ring/producer/ring_control.h"
#include "ring/producer/ring_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct tracer_ring_event {
    uint64_t bits;  // of a record's header: user, id
    tracer_ring_event_type type;
    uint64_t tag;
    const tracer_ring_codec* codec;
    char name[];
};

#define SLOTS (2 * TR_RING_NAMES)

// Under the lock of ring_control.c.
static struct tracer_ring_event* events[TR_RING_NAMES];
static uint32_t event_count;
static uint16_t slots[SLOTS];  // id + 1 by the name's hash; 0: free

static uint32_t hash_of(const char* name) {
    uint32_t hash = 2166136261u;  // FNV-1a
    for (; *name != '\0'; ++name) hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

// The name's slot, or the free one where it belongs. At most half of them are taken.
static uint16_t* find_slot(const char* name) {
    for (uint32_t i = hash_of(name);; ++i) {
        uint16_t* slot = &slots[i % SLOTS];
        if (*slot == 0 || strcmp(events[*slot - 1]->name, name) == 0) return slot;
    }
}

// TRACER_RING_UNIT is 0, and so is what is not there.
_Static_assert(TR_RING_REGISTERED_UNIT == TRACER_RING_UNIT + 1 &&
                   TR_RING_REGISTERED_CUSTOM == TRACER_RING_CUSTOM + 1,
               "types in the file are those of the header, counted from 1");

static int set_in_file(struct tr_ring_file* file,
                       uint32_t id,
                       const struct tracer_ring_event* event) {
    return tr_ring_file_set_event(file, id, event->name,
                                  (enum tr_ring_registered)(event->type + 1));
}

static int add_event(struct tracer_ring_event* event) {
    uint16_t* slot = find_slot(event->name);
    if (*slot != 0) return -EEXIST;
    if (event_count == TR_RING_NAMES) return -ENOSPC;
    const uint32_t id = event_count;
    struct tr_ring_file* file = tr_control_file();
    const int error = file != NULL ? set_in_file(file, id, event) : 0;
    if (error != 0) return error;
    event->bits = (uint64_t)1 << TR_RING_USER_BIT | (uint64_t)id << TR_RING_ID_SHIFT;
    events[id] = event;
    *slot = (uint16_t)(id + 1);
    event_count += 1;
    return 0;
}

static int register_event(const char* name,
                          tracer_ring_event_type type,
                          const tracer_ring_codec* codec,
                          uint64_t tag,
                          const tracer_ring_event** result) {
    *result = NULL;
    const size_t length = name != NULL ? strnlen(name, TR_RING_NAME_BYTES) : 0;
    if (length == 0 || length >= TR_RING_NAME_BYTES) return -EINVAL;
    struct tracer_ring_event* event = malloc(sizeof(*event) + length + 1);
    if (event == NULL) return -ENOMEM;
    *event = (struct tracer_ring_event){.type = type, .tag = tag, .codec = codec};
    memcpy(event->name, name, length + 1);
    if (!tr_control_lock()) {
        free(event);
        return -EBUSY;
    }
    const int error = add_event(event);
    tr_control_unlock();
    if (error != 0) {
        free(event);
        return error;
    }
    *result = event;
    return 0;
}

int tracer_ring_register(const char* name,
                         tracer_ring_event_type type,
                         uint64_t tag,
                         const tracer_ring_event** event) {
    if (type > TRACER_RING_SPAN) {
        *event = NULL;
        return -EINVAL;
    }
    return register_event(name, type, NULL, tag, event);
}

int tracer_ring_register_custom(const char* name,
                                const tracer_ring_codec* codec,
                                uint64_t tag,
                                const tracer_ring_event** event) {
    if (codec == NULL || codec->encode == NULL) {
        *event = NULL;
        return -EINVAL;
    }
    return register_event(name, TRACER_RING_CUSTOM, codec, tag, event);
}

int tr_ring_events_write_names(struct tr_ring_file* file) {
    for (uint32_t id = 0; id < event_count; ++id) {
        const int error = set_in_file(file, id, events[id]);
        if (error != 0) return error;
    }
    return 0;
}

const tracer_ring_event* tracer_ring_find(const char* name) {
    if (name == NULL || !tr_control_lock()) return NULL;
    const uint16_t slot = *find_slot(name);
    const tracer_ring_event* event = slot != 0 ? events[slot - 1] : NULL;
    tr_control_unlock();
    return event;
}

const char* tracer_ring_event_name(const tracer_ring_event* event) {
    return event->name;
}

uint64_t tracer_ring_event_tag(const tracer_ring_event* event) {
    return event->tag;
}

tracer_ring_event_type tracer_ring_event_type_of(const tracer_ring_event* event) {
    return event->type;
}

int tracer_ring_decode(const tracer_ring_event* event,
                       const void* bytes,
                       size_t byte_count,
                       void* value) {
    const bool is_decodable =
        event != NULL && event->type == TRACER_RING_CUSTOM && event->codec->decode != NULL;
    return is_decodable && event->codec->decode(bytes, byte_count, value) ? 0 : -EINVAL;
}

int tracer_ring_put_event(const tracer_ring_event* event, uint32_t type) {
    const tracer_ring_event_type wanted =
        type == TR_RING_USER_UNIT ? TRACER_RING_UNIT : TRACER_RING_SPAN;
    if (__builtin_expect(event == NULL || event->type != wanted, 0)) return -EINVAL;
    return tracer_ring_put(event->bits | (uint64_t)type << TR_RING_TYPE_SHIFT);
}

int tracer_ring_put_int(const tracer_ring_event* event, int64_t value) {
    if (__builtin_expect(event == NULL || event->type != TRACER_RING_INT, 0)) return -EINVAL;
    return tracer_ring_put_value(event->bits | (uint64_t)TR_RING_USER_INT << TR_RING_TYPE_SHIFT,
                                 value);
}

// Bytes in words, of which the last byte says how many before it are unused; those are zeros.
struct payload {
    uint64_t words[TR_RING_CUSTOM_BYTES_MAX / sizeof(uint64_t) + 1];
};

static int put_payload(const tracer_ring_event* event, struct payload* payload, size_t bytes) {
    const uint32_t count = (uint32_t)(bytes + 8) / 8;
    unsigned char* end = (unsigned char*)payload->words + count * sizeof(uint64_t);
    const size_t unused = count * sizeof(uint64_t) - 1 - bytes;
    memset(end - 1 - unused, 0, unused);
    end[-1] = (unsigned char)unused;
    return tracer_ring_put_words(event->bits | (uint64_t)TR_RING_USER_CUSTOM << TR_RING_TYPE_SHIFT,
                                 payload->words, count);
}

int tracer_ring_put_bytes(const tracer_ring_event* event, const void* bytes, size_t byte_count) {
    if (event == NULL || event->type != TRACER_RING_CUSTOM) return -EINVAL;
    if (byte_count > TR_RING_CUSTOM_BYTES_MAX) return -EMSGSIZE;
    struct payload payload;
    if (byte_count != 0) memcpy(payload.words, bytes, byte_count);
    return put_payload(event, &payload, byte_count);
}

// The encoder runs before the ring is the thread's: it may take its time, and write events.
int tracer_ring_put_custom(const tracer_ring_event* event, const void* value) {
    if (event == NULL || event->type != TRACER_RING_CUSTOM) return -EINVAL;
    struct payload payload;
    const long bytes = event->codec->encode(payload.words, TR_RING_CUSTOM_BYTES_MAX, value);
    if (bytes < 0) return bytes < -4095 ? -EINVAL : (int)bytes;
    if (bytes > TR_RING_CUSTOM_BYTES_MAX) return -EMSGSIZE;
    return put_payload(event, &payload, (size_t)bytes);
}
