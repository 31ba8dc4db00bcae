// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packs/pack.h"
#include "tracer/base/result.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace tracer {

// A text of userspace/packs/data, as it was when tracer was built.
struct BuiltInPack {
    std::string_view name;  // the file's, without .toml
    std::string_view text;
};
[[nodiscard]] std::span<const BuiltInPack> built_in_packs();

// Where a user keeps packs of their own.
struct PackFolder {
    std::string path;
    uid_t owner = 0;  // besides root the only one whose files are read
};

// $XDG_CONFIG_HOME/tracer/packs, by default ~/.config/tracer/packs, of the user who called sudo or
// else of the caller. nullopt: there is no home. Whether the folder exists is not asked.
[[nodiscard]] std::optional<PackFolder> find_pack_folder();

struct PackCatalogOptions {
    std::vector<std::string> files;    // paths that the user gave (--pack): must be right
    std::optional<PackFolder> folder;  // all *.toml in it; wrong ones become warnings
};

// The packs that are known: ours, replaced by those of the same name in the user's folder, and
// these by the files that were named. Immutable once loaded, so any thread may read it. Moving
// keeps the packs where they are.
class PackCatalog {
public:
    [[nodiscard]] static Result<PackCatalog> load(const PackCatalogOptions& options);

    PackCatalog(PackCatalog&&) = default;
    PackCatalog& operator=(PackCatalog&&) = default;
    PackCatalog(const PackCatalog&) = delete;
    PackCatalog& operator=(const PackCatalog&) = delete;
    ~PackCatalog() = default;

    // In the order of their names.
    [[nodiscard]] std::span<const Pack> packs() const { return packs_; }
    // Null when there is none of that name.
    [[nodiscard]] const Pack* find(std::string_view name) const;
    // The same for a name that a user wrote: not_found, with the nearest as hint.
    [[nodiscard]] Result<const Pack*> find_named(std::string_view name) const;

    // What of the user's folder is left out, and why.
    [[nodiscard]] const std::vector<Error>& warnings() const { return warnings_; }
    // "pack python of /home/u/.config/tracer/packs/python.toml replaces the built in one".
    [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

private:
    PackCatalog() = default;
    void add(Pack pack);
    void add_built_in();
    void add_folder(const PackFolder& folder);

    std::vector<Pack> packs_;
    std::vector<Error> warnings_;
    std::vector<std::string> remarks_;
};

}  // namespace tracer
