// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tracer {

// Puts something at descriptors 0, 1 and 2 that were closed before the program began. Otherwise the
// next file opened (a trace, a map of the kernel's) gets such a number, and what is printed for
// people goes into it. What is put there refuses the use, so that the closing still shows.
void occupy_closed_standard_streams();

}  // namespace tracer
