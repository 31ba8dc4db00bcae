// SPDX-License-Identifier: Apache-2.0
//
// Which packs there are. Files of a user are read by a tracer that runs as root, and a pack decides
// what is recorded of others' processes: so a folder's files count only if nobody but root and that
// user could have written them. Called by the command line, once for a run.
#include "packs/pack_catalog.h"

#include "packs/byte_text.h"
#include "packs/pack_file.h"
#include "probe/nearest.h"
#include "symbol/file_bytes.h"
#include "tracer/base/unique_fd.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr size_t kFolderFilesMax = 256;
constexpr std::string_view kSuffix = ".toml";
constexpr std::string_view kFolderBelowConfig = "/tracer/packs";

struct User {
    uid_t id = 0;
    std::string home;
};

std::optional<User> user_of(const passwd* entry) {
    if (entry == nullptr || entry->pw_dir == nullptr) return std::nullopt;
    return User{entry->pw_uid, entry->pw_dir};
}

// getpwnam_r and getpwuid_r, which differ in what they are asked for.
template <typename Ask>
std::optional<User> look_up(Ask ask) {
    passwd entry{};
    passwd* found = nullptr;
    std::vector<char> room(16384);
    if (ask(&entry, room.data(), room.size(), &found) != 0) return std::nullopt;
    return user_of(found);
}

std::string environment(const char* name) {
    // Read before any thread is started.
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
    return value == nullptr ? std::string() : std::string(value);
}

// Who is to be served: under sudo the one who called it.
std::optional<User> find_user() {
    const auto caller = environment("SUDO_USER");
    if (::geteuid() == 0 && !caller.empty()) {
        auto user = look_up([&](auto... rest) { return ::getpwnam_r(caller.c_str(), rest...); });
        if (user) return user;
    }
    auto user = look_up([](auto... rest) { return ::getpwuid_r(::getuid(), rest...); });
    const auto home = environment("HOME");
    if (!home.empty()) return User{::getuid(), home};
    return user;
}

// Empty: `info` is of something that only root and the owner may have written.
std::string why_untrusted(const struct stat& info, uid_t owner) {
    if (info.st_uid != 0 && info.st_uid != owner) {
        return fmt::format("belongs to user {}, neither to root nor to you", info.st_uid);
    }
    if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "may be written by others";
    return {};
}

// Opened first and looked at then: what the name leads to may change in between.
Result<UniqueFd> open_trusted(const std::string& path, int flags, uid_t owner) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags));
    if (!fd.valid()) return fail_errno(ErrorCode::io, errno, path);
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) return fail_errno(ErrorCode::io, errno, path);
    const auto reason = why_untrusted(info, owner);
    if (!reason.empty()) {
        const bool is_mode = info.st_uid == 0 || info.st_uid == owner;
        return fail(ErrorCode::permission, fmt::format("{} {}", path, reason),
                    is_mode ? fmt::format("chmod go-w '{}'", path)
                            : fmt::format("name it by --pack '{}' if you trust it", path));
    }
    return fd;
}

Result<Pack> read_pack(const FileBytes& file) {
    if (file.size() > kPackFileBytesMax) {
        return fail(ErrorCode::limit, fmt::format("{}: a pack of {} bytes is longer than the {} "
                                                  "allowed",
                                                  file.name(), file.size(), kPackFileBytesMax));
    }
    TR_ASSIGN(const auto bytes, file.read(0, file.size()));
    return parse_pack(text_of(bytes), file.name());
}

Result<Pack> read_trusted_pack(const std::string& path, uid_t owner) {
    TR_ASSIGN(auto fd, open_trusted(path, 0, owner));
    TR_ASSIGN(const auto file, FileBytes::from_fd(std::move(fd), path));
    return read_pack(file);
}

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};

// The pack files of a folder by name, at most kFolderFilesMax + 1.
Result<std::vector<std::string>> list_packs(const PackFolder& folder) {
    TR_ASSIGN(auto fd, open_trusted(folder.path, O_DIRECTORY, folder.owner));
    const std::unique_ptr<DIR, CloseFolder> stream(::fdopendir(fd.get()));
    if (!stream) return fail_errno(ErrorCode::io, errno, folder.path);
    static_cast<void>(fd.release());  // the stream's now
    std::vector<std::string> names;
    // One thread reads this stream.
    while (const auto* entry = ::readdir(stream.get())) {  // NOLINT(concurrency-mt-unsafe)
        const std::string_view name = entry->d_name;
        if (!name.ends_with(kSuffix) || name.starts_with('.')) continue;
        names.emplace_back(name);
        if (names.size() > kFolderFilesMax) break;
    }
    std::sort(names.begin(), names.end());
    return names;
}

bool is_before(const Pack& pack, std::string_view name) {
    return pack.name < name;
}

}  // namespace

std::optional<PackFolder> find_pack_folder() {
    const auto user = find_user();
    if (!user) return std::nullopt;
    // XDG Base Directory Specification 0.8: a relative path is to be ignored.
    const auto config = environment("XDG_CONFIG_HOME");
    if (config.starts_with('/')) {
        return PackFolder{fmt::format("{}{}", config, kFolderBelowConfig), user->id};
    }
    if (!user->home.starts_with('/')) return std::nullopt;
    return PackFolder{fmt::format("{}/.config{}", user->home, kFolderBelowConfig), user->id};
}

Result<PackCatalog> PackCatalog::load(const PackCatalogOptions& options) {
    PackCatalog catalog;
    catalog.add_built_in();
    if (options.folder) catalog.add_folder(*options.folder);
    for (const auto& path : options.files) {
        TR_ASSIGN(const auto file, FileBytes::open(path));
        TR_ASSIGN(auto pack, read_pack(file));
        catalog.add(std::move(pack));
    }
    return catalog;
}

void PackCatalog::add_built_in() {
    for (const auto& built_in : built_in_packs()) {
        // Each one is parsed by a unit test; if that was not run, the others still serve.
        auto pack = parse_pack(built_in.text, kBuiltInOrigin);
        if (pack) {
            add(std::move(*pack));
        } else {
            warnings_.push_back(std::move(pack).error().within(built_in.name));
        }
    }
}

void PackCatalog::add_folder(const PackFolder& folder) {
    auto names = list_packs(folder);
    if (!names) {
        // Few have one.
        const bool is_absent = names.error().sys_errno == ENOENT;
        if (!is_absent) warnings_.push_back(std::move(names).error().within("no packs read"));
        return;
    }
    if (names->size() > kFolderFilesMax) {
        names->resize(kFolderFilesMax);
        warnings_.push_back({ErrorCode::limit,
                             0,
                             fmt::format("{} holds more than {} packs: the others are not read",
                                         folder.path, kFolderFilesMax),
                             {}});
    }
    for (const auto& name : *names) {
        auto pack = read_trusted_pack(fmt::format("{}/{}", folder.path, name), folder.owner);
        if (pack) {
            add(std::move(*pack));
        } else {
            warnings_.push_back(std::move(pack).error().within("pack left out"));
        }
    }
}

void PackCatalog::add(Pack pack) {
    auto place = std::lower_bound(packs_.begin(), packs_.end(), pack.name, is_before);
    if (place == packs_.end() || place->name != pack.name) {
        packs_.insert(place, std::move(pack));
        return;
    }
    remarks_.push_back(fmt::format("pack {} of {} replaces that of {}", pack.name, pack.origin,
                                   place->origin == kBuiltInOrigin ? "tracer" : place->origin));
    *place = std::move(pack);
}

const Pack* PackCatalog::find(std::string_view name) const {
    const auto place = std::lower_bound(packs_.begin(), packs_.end(), name, is_before);
    return place != packs_.end() && place->name == name ? &*place : nullptr;
}

Result<const Pack*> PackCatalog::find_named(std::string_view name) const {
    const auto* pack = find(name);
    if (pack != nullptr) return pack;
    NearestNames nearest{std::string(name)};
    for (const auto& known : packs_) {
        if (std::ranges::find(known.aliases, name) != known.aliases.end()) return &known;
        nearest.offer(known.name);
        for (const std::string& alias : known.aliases) nearest.offer(alias);
    }
    auto hint = nearest.hint();
    return fail(ErrorCode::not_found, fmt::format("no pack {}", name),
                hint.empty() ? "`tracer packs` lists them" : std::move(hint));
}

}  // namespace tracer
