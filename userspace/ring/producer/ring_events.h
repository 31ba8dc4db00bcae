// SPDX-License-Identifier: Apache-2.0
//
// User events, as ring_control.c needs them.
#pragma once

#include "ring/producer/ring_file.h"

// Writes all names into a new file. Under the lock.
int tr_ring_events_write_names(struct tr_ring_file* file);
