// SPDX-License-Identifier: Apache-2.0
//
// Opening debug information with libdw, and the few questions that every reader of it asks. The
// file is read, never mapped: one that is cut short while we look must not raise SIGBUS. Called by
// the readers of types and of functions.
#include "symbol/dwarf_session.h"

#include <cerrno>
#include <dwarf.h>
#include <fcntl.h>

#include <fmt/format.h>
#include <gelf.h>

namespace tracer {

namespace {

// All sections of debug information together, as they are in memory: a compressed one says its
// size itself. Chromium with full symbols has some 3 GiB.
constexpr uint64_t kDebugBytesMax = 8ull << 30;

constexpr std::string_view kHint =
    "build with -g, or install the debug symbols (package NAME-dbgsym)";

bool has_debug_info(const ElfFile& file) {
    const auto* section = file.section(".debug_info");
    return section != nullptr || file.section(".zdebug_info") != nullptr;
}

Status check_debug_bytes(Elf* elf, const std::string& name) {
    uint64_t total = 0;
    size_t strings = 0;
    if (elf_getshdrstrndx(elf, &strings) != 0) return {};
    Elf_Scn* section = nullptr;
    while ((section = elf_nextscn(elf, section)) != nullptr) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) == nullptr) continue;
        const char* text = elf_strptr(elf, strings, header.sh_name);
        if (text == nullptr || !std::string_view(text).starts_with(".debug")) continue;
        GElf_Chdr compressed;
        const bool is_compressed = (header.sh_flags & SHF_COMPRESSED) != 0 &&
                                   gelf_getchdr(section, &compressed) != nullptr;
        const uint64_t bytes = is_compressed ? compressed.ch_size : header.sh_size;
        if (__builtin_add_overflow(total, bytes, &total)) total = UINT64_MAX;
    }
    if (total <= kDebugBytesMax) return {};
    return fail(ErrorCode::limit,
                fmt::format("{}: more debug information than the {} bytes supported", name,
                            kDebugBytesMax));
}

Status open_session(DwarfSession& session, const std::string& path) {
    session.name = path;
    session.fd = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!session.fd.valid()) {
        const int error = errno;
        return fail_errno(ErrorCode::io, error, fmt::format("open {}", path));
    }
    if (elf_version(EV_CURRENT) == EV_NONE) return fail(ErrorCode::internal, "libelf is too old");
    // Not ELF_C_READ_MMAP, which dwarf_begin would choose.
    session.elf = elf_begin(session.fd.get(), ELF_C_READ, nullptr);
    if (session.elf == nullptr) {
        return fail(ErrorCode::bad_input, fmt::format("{}: {}", path, elf_errmsg(-1)));
    }
    TR_TRY(check_debug_bytes(session.elf, path));
    session.dwarf = dwarf_begin_elf(session.elf, DWARF_C_READ, nullptr);
    if (session.dwarf == nullptr) {
        return fail(ErrorCode::bad_input,
                    fmt::format("debug information of {}: {}", path, dwarf_errmsg(-1)));
    }
    return {};
}

// The file that holds debug information for `file`: itself, or its separate debug file.
Result<std::string> debug_holder(const ElfFile& file, const DebugFileSearch& search) {
    if (has_debug_info(file)) return file.name();
    const auto debug = find_debug_file(file, search);
    if (debug.file && has_debug_info(*debug.file)) return debug.file->name();
    return fail(ErrorCode::not_found,
                fmt::format("{} has no debug information{}{}", file.name(),
                            debug.refused.empty() ? "" : "; ", fmt::join(debug.refused, "; ")),
                std::string(kHint));
}

}  // namespace

DwarfInfo::Session::~Session() {
    if (dwarf != nullptr) dwarf_end(dwarf);
    if (elf != nullptr) elf_end(elf);
}

Result<DwarfInfo> DwarfInfo::open(const ElfFile& file, const DebugFileSearch& search) {
    TR_ASSIGN(const auto path, debug_holder(file, search));
    auto session = std::make_shared<Session>();
    TR_TRY(open_session(*session, path));
    return DwarfInfo(std::move(session));
}

DwarfInfo::DwarfInfo(std::shared_ptr<Session> session) : session_(std::move(session)) {}
DwarfInfo::DwarfInfo(DwarfInfo&&) noexcept = default;
DwarfInfo& DwarfInfo::operator=(DwarfInfo&&) noexcept = default;
DwarfInfo::~DwarfInfo() = default;

Children::Children(DwarfSession& session, const Dwarf_Die& parent) : session_(session) {
    auto copy = parent;
    valid_ = session_.steps_left > 0 && dwarf_child(&copy, &die_) == 0;
}

void Children::next() {
    if (session_.steps_left > 0) --session_.steps_left;
    auto before = die_;
    valid_ = session_.steps_left > 0 && dwarf_siblingof(&before, &die_) == 0;
}

std::string_view die_name(Dwarf_Die& die) {
    const char* name = dwarf_diename(&die);
    return name == nullptr ? std::string_view() : std::string_view(name);
}

bool has_flag(Dwarf_Die& die, unsigned attribute) {
    Dwarf_Attribute value;
    bool flag = false;
    return dwarf_attr_integrate(&die, attribute, &value) != nullptr &&
           dwarf_formflag(&value, &flag) == 0 && flag;
}

std::optional<uint64_t> unsigned_attribute(Dwarf_Die& die, unsigned attribute) {
    Dwarf_Attribute value;
    Dwarf_Word number = 0;
    if (dwarf_attr_integrate(&die, attribute, &value) == nullptr) return std::nullopt;
    if (dwarf_formudata(&value, &number) != 0) return std::nullopt;
    return number;
}

std::optional<int64_t> signed_attribute(Dwarf_Die& die, unsigned attribute) {
    Dwarf_Attribute value;
    Dwarf_Sword number = 0;
    if (dwarf_attr_integrate(&die, attribute, &value) == nullptr) return std::nullopt;
    if (dwarf_formsdata(&value, &number) != 0) return std::nullopt;
    return number;
}

int language_of(Dwarf_Die& die) {
    Dwarf_Die unit;
    if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return 0;
    const int language = dwarf_srclang(&unit);
    return language < 0 ? 0 : language;
}

}  // namespace tracer
