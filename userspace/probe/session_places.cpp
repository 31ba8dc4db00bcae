// SPDX-License-Identifier: Apache-2.0
//
// Relies on the compiler for AttachSite::begin_id, which says that the return is of interest only
// where that begin was recorded. Called when programs are chosen and when they are attached.
#include "probe/session_places.h"

#include <map>

namespace tracer {

namespace {

// What there is at one place.
struct Place {
    size_t return_count = 0;
    const AttachSite* at_return = nullptr;
    const AttachSite* entry = nullptr;  // that the return belongs to

    [[nodiscard]] bool is_session() const { return return_count == 1 && entry != nullptr; }
};

}  // namespace

bool LinkPlace::is_sleepable() const {
    return is_sleepable_program(site.program) ||
           (at_return && is_sleepable_program(at_return->program));
}

uint64_t LinkPlace::cookie() const {
    return site.probe_id | (at_return ? uint64_t{at_return->probe_id} << 32 : 0);
}

std::vector<LinkPlace> join_sessions(std::span<const AttachSite> sites) {
    std::map<uint64_t, Place> places;
    for (const AttachSite& site : sites) {
        if (!is_return_program(site.program)) continue;
        Place& place = places[site.file_offset];
        ++place.return_count;
        place.at_return = &site;
    }
    for (const AttachSite& site : sites) {
        const auto place = places.find(site.file_offset);
        if (place == places.end() || is_return_program(site.program)) continue;
        if (site.probe_id == place->second.at_return->begin_id) place->second.entry = &site;
    }
    std::vector<LinkPlace> joined;
    for (const AttachSite& site : sites) {
        const auto found = places.find(site.file_offset);
        const Place place = found == places.end() ? Place() : found->second;
        const bool is_session = place.is_session();
        if (is_session && &site == place.at_return) continue;
        joined.push_back({site});
        if (is_session && &site == place.entry) joined.back().at_return = *place.at_return;
    }
    return joined;
}

std::vector<LinkPlace> keep_apart(std::span<const AttachSite> sites) {
    std::vector<LinkPlace> apart;
    for (const AttachSite& site : sites) apart.push_back({site});
    return apart;
}

}  // namespace tracer
