// SPDX-License-Identifier: Apache-2.0
//
// libdw's state for one file, and how entries of debug information ("DIEs") are walked. For the
// DWARF readers of this folder alone.
#pragma once

#include "symbol/dwarf_function.h"
#include "symbol/dwarf_type.h"
#include "tracer/base/unique_fd.h"

#include <cstdint>
#include <elfutils/libdw.h>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <libelf.h>

namespace tracer {

// A sibling may point back (DW_AT_sibling is the file's word), types may contain themselves, and
// trees may be deep: every walk pays for its steps out of what one file is allowed.
inline constexpr uint64_t kDieStepsMax = 500'000'000;
inline constexpr int kDieDepthMax = 32;

struct DwarfInfo::Session {
    Session() = default;
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;
    ~Session();

    std::string name;  // of the file that holds the debug information
    UniqueFd fd;
    Elf* elf = nullptr;
    Dwarf* dwarf = nullptr;
    uint64_t steps_left = kDieStepsMax;

    // Functions of the units that were asked about so far, by the address of their first
    // instruction.
    std::map<uint64_t, Dwarf_Die> functions;
    std::set<uint64_t> indexed_units;  // offsets
};

using DwarfSession = DwarfInfo::Session;

// One entry, and what keeps it readable.
struct DwarfDie {
    std::shared_ptr<DwarfSession> session;
    Dwarf_Die die;
};

// Goes through an entry's children: `for (Children c(session, die); c.valid(); c.next())`.
class Children {
public:
    Children(DwarfSession& session, const Dwarf_Die& parent);
    [[nodiscard]] bool valid() const { return valid_; }
    void next();
    [[nodiscard]] Dwarf_Die& die() { return die_; }

private:
    DwarfSession& session_;
    Dwarf_Die die_{};
    bool valid_ = false;
};

// "" for none. Not followed to specifications.
[[nodiscard]] std::string_view die_name(Dwarf_Die& die);
[[nodiscard]] bool has_flag(Dwarf_Die& die, unsigned attribute);
// Also through DW_AT_specification and DW_AT_abstract_origin.
[[nodiscard]] std::optional<uint64_t> unsigned_attribute(Dwarf_Die& die, unsigned attribute);
[[nodiscard]] std::optional<int64_t> signed_attribute(Dwarf_Die& die, unsigned attribute);

// The type that DW_AT_type of an entry names (void where there is none).
[[nodiscard]] DwarfType type_of_die(const std::shared_ptr<DwarfSession>& session, Dwarf_Die& die);

// DW_LANG of the unit that holds the entry; 0: not said.
[[nodiscard]] int language_of(Dwarf_Die& die);

}  // namespace tracer
