// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/usdt.h"

namespace sites {

__attribute__((noinline)) inline void in_two_files(int x) {
    TRACER_PROBE(sites, in_two_files, x);
}

template <typename T>
__attribute__((noinline)) void in_template(T value) {
    TRACER_PROBE(sites, in_template, value);
}

void other_file(int x);

}  // namespace sites
