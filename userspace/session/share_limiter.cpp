// SPDX-License-Identifier: Apache-2.0
//
// The drain thread's bounded share. It runs at a real-time priority because an ordinary thread is
// put off for a second and more on a saturated machine, and rings do not wait; so it must bound
// itself. When the window is used up it pauses until a quarter of the budget is free again: many
// short pauses would cost a wake-up each and drain little.
#include "session/share_limiter.h"

#include "tracer/base/result.h"

#include <algorithm>

namespace tracer {

ShareLimiter::ShareLimiter(uint32_t percent, uint64_t window_ns)
    : window_ns_(window_ns), budget_ns_(window_ns / 100 * percent), resume_ns_(budget_ns_ / 4 * 3) {
    TR_CHECK(percent >= 1 && percent <= 100);
}

uint64_t ShareLimiter::pause_ns(uint64_t now_ns, uint64_t cpu_ns) {
    samples_.push_back({now_ns, cpu_ns});
    const uint64_t begin_ns = now_ns > window_ns_ ? now_ns - window_ns_ : 0;
    // The sample before the window's begin stays: the begin lies between it and the next.
    while (samples_.size() > 2 && samples_[1].now_ns <= begin_ns) samples_.pop_front();
    const uint64_t used_ns = cpu_ns - cpu_at(begin_ns);
    if (used_ns < budget_ns_ || budget_ns_ >= window_ns_) return 0;

    // Idle from now on, the window holds resume_ns_ once it begins where all but that was used.
    const uint64_t free_at_ns = time_of_cpu(cpu_ns - resume_ns_) + window_ns_;
    const uint64_t pause = free_at_ns > now_ns ? free_at_ns - now_ns : 1;
    pauses_ += 1;
    paused_ns_ += pause;
    return pause;
}

uint64_t ShareLimiter::cpu_at(uint64_t at_ns) const {
    if (at_ns <= samples_.front().now_ns || samples_.size() == 1) return samples_.front().cpu_ns;
    const Sample& a = samples_[0];
    const Sample& b = samples_[1];
    const uint64_t span_ns = b.now_ns - a.now_ns;
    if (span_ns == 0) return b.cpu_ns;
    return a.cpu_ns + (b.cpu_ns - a.cpu_ns) * std::min(at_ns - a.now_ns, span_ns) / span_ns;
}

uint64_t ShareLimiter::time_of_cpu(uint64_t cpu_ns) const {
    for (size_t i = 1; i < samples_.size(); ++i) {
        const Sample& a = samples_[i - 1];
        const Sample& b = samples_[i];
        if (b.cpu_ns < cpu_ns || b.cpu_ns == a.cpu_ns) continue;
        const uint64_t into = cpu_ns > a.cpu_ns ? cpu_ns - a.cpu_ns : 0;
        return a.now_ns + (b.now_ns - a.now_ns) * into / (b.cpu_ns - a.cpu_ns);
    }
    return samples_.back().now_ns;
}

}  // namespace tracer
