// SPDX-License-Identifier: Apache-2.0
//
// The version of a matched file's runtime, by its name or by a text in its read-only data, of which
// no more than kSearchBytesMax are looked at. Called by pack_match.cpp.
#include "packs/byte_text.h"
#include "packs/pack_match.h"
#include "packs/version_range.h"
#include "probe/target_files.h"
#include "probe/wildcard.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tracer {

namespace {

constexpr std::string_view kPlace = "{}";
constexpr std::string_view kVersionCharacters = "0123456789.";
constexpr size_t kVersionBytesMax = 64;
constexpr uint64_t kSearchBytesMax = 128ull << 20;
constexpr uint64_t kChunkBytes = 1ull << 20;

bool is_version_character(char c) {
    return kVersionCharacters.find(c) != kVersionCharacters.npos;
}

struct Pattern {
    std::string_view before;
    std::string_view after;
};

Pattern split(std::string_view pattern) {
    const size_t at = pattern.find(kPlace);
    return {pattern.substr(0, at), pattern.substr(at + kPlace.size())};
}

// Digits with dots between them, at the begin of `text`; may be empty.
std::string_view leading_version(std::string_view text) {
    text = text.substr(0, std::min(text.find_first_not_of(kVersionCharacters), kVersionBytesMax));
    while (text.ends_with('.')) text.remove_suffix(1);
    return is_version(text) ? text : std::string_view();
}

// Of all places that fit the first, and there the longest version.
std::string version_in_name(const Pattern& pattern, std::string_view name) {
    // "*{}" means all of the 11 in "x11"; "so.{}" says itself what stands before.
    const bool is_free = pattern.before.ends_with('*') || pattern.before.ends_with('?');
    for (size_t at = 0; at < name.size(); ++at) {
        if (is_free && at != 0 && is_version_character(name[at - 1])) continue;
        if (!wildcard_matches(pattern.before, name.substr(0, at))) continue;
        for (auto version = leading_version(name.substr(at)); !version.empty();) {
            if (wildcard_matches(pattern.after, name.substr(at + version.size()))) {
                return std::string(version);
            }
            version = leading_version(version.substr(0, version.size() - 1));
        }
    }
    return {};
}

// Only what begins in front of `begin_max`.
std::string version_in_text(const Pattern& pattern, std::string_view text, size_t begin_max) {
    for (size_t at = text.find(pattern.before); at < begin_max && at != text.npos;
         at = text.find(pattern.before, at + 1)) {
        const auto rest = text.substr(at + pattern.before.size());
        const auto version = leading_version(rest);
        if (!version.empty() && rest.substr(version.size()).starts_with(pattern.after)) {
            return std::string(version);
        }
    }
    return {};
}

struct FileRange {
    uint64_t offset = 0;
    uint64_t bytes = 0;
};

// Sections of constants; of a file without sections, all that is mapped.
std::vector<FileRange> searched_ranges(const ElfFile& elf, std::string_view only_section) {
    std::vector<FileRange> ranges;
    for (const auto& section : elf.sections()) {
        const bool is_wanted = only_section.empty() ? section.name.starts_with(".rodata")
                                                    : section.name == only_section;
        if (is_wanted) ranges.push_back({section.file_offset, section.bytes});
    }
    if (!elf.sections().empty()) return ranges;
    for (const auto& segment : elf.segments()) {
        ranges.push_back({segment.file_offset, segment.file_bytes});
    }
    return ranges;
}

std::string version_in_data(const Pattern& pattern,
                            const ElfFile& elf,
                            std::string_view only_section) {
    // What begins in one chunk and ends in the next is whole in the first.
    const uint64_t overlap = pattern.before.size() + kVersionBytesMax + pattern.after.size();
    uint64_t left = kSearchBytesMax;
    for (const auto& range : searched_ranges(elf, only_section)) {
        uint64_t done = 0;
        while (done < range.bytes && left != 0) {
            const uint64_t count = std::min({kChunkBytes + overlap, range.bytes - done, left});
            const auto bytes = elf.read(range.offset + done, count);
            if (!bytes) break;
            auto version = version_in_text(pattern, text_of(*bytes), kChunkBytes);
            if (!version.empty()) return version;
            done += kChunkBytes;
            left -= count;
        }
    }
    return {};
}

std::string version_by_symbols(const Pack& pack, ProbeFile& file) {
    const auto symbols = file.symbols();
    if (!symbols) return {};
    const auto newest =
        std::find_if(pack.version_symbols.rbegin(), pack.version_symbols.rend(),
                     [&](const auto& known) { return (*symbols)->address_of(known.symbol); });
    return newest == pack.version_symbols.rend() ? std::string() : newest->version;
}

}  // namespace

std::string find_runtime_version(const Pack& pack, ProbeFile& file) {
    std::string version;
    if (!pack.version_path.empty()) {
        version = version_in_name(split(pack.version_path), base_name(file.file().shown_path));
    }
    if (version.empty() && !pack.version_text.empty()) {
        version = version_in_data(split(pack.version_text), file.elf(), pack.version_section);
    }
    if (version.empty() && !pack.version_symbols.empty()) {
        version = version_by_symbols(pack, file);
    }
    return version;
}

}  // namespace tracer
