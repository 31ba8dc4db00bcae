// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/held_file.h"
#include "probe/target_files.h"
#include "symbol/debug_file.h"
#include "symbol/dwarf_function.h"
#include "symbol/elf_file.h"
#include "symbol/got_slots.h"
#include "symbol/symbol_table.h"
#include "symbol/usdt_notes.h"
#include "symbol/usdt_operand.h"
#include "tracer/base/result.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

namespace tracer {

// One file that probes are looked for in, read as far as was asked so far.
class ProbeFile {
public:
    ProbeFile(TargetFile file, ElfFile elf, DebugFileSearch debug_files)
        : file_(std::move(file)), elf_(std::move(elf)), debug_files_(std::move(debug_files)) {}

    [[nodiscard]] const TargetFile& file() const { return file_; }
    [[nodiscard]] const ElfFile& elf() const { return elf_; }
    [[nodiscard]] Result<const UsdtNotes*> notes();
    [[nodiscard]] Result<const SymbolTable*> symbols();
    // The place is called so from here on, unless the file calls a function so.
    void name_place(std::string name, uint64_t vaddr);
    // not_found, with the cure, when there is none. Looked for once.
    [[nodiscard]] Result<const DwarfInfo*> debug_info();

    // The operands of one of the file's notes. `total`: how many the note has.
    [[nodiscard]] std::vector<CompiledOperand> operands(const UsdtNote& note, size_t& total);

    // Of a variable that each thread of the program has: from the base of %fs. nullopt: the file is
    // no program, or has none.
    [[nodiscard]] std::optional<int64_t> thread_offset_of(std::string_view name);

private:
    [[nodiscard]] std::optional<uint64_t> got_slot_of(std::string_view name);

    TargetFile file_;
    ElfFile elf_;
    DebugFileSearch debug_files_;
    std::optional<UsdtNotes> notes_;
    std::optional<SymbolTable> symbols_;
    std::optional<GotSlots> got_slots_;
    std::optional<Result<DwarfInfo>> debug_info_;
};

// The files opened so far, by path; each content once.
class ProbeFiles {
public:
    ProbeFiles() = default;
    // `debug_files`: where the names of stripped files are looked for.
    explicit ProbeFiles(DebugFileSearch debug_files) : debug_files_(std::move(debug_files)) {}

    // The file, owned here. Two paths to one file give the same object: the same inode through two
    // mounts has two device numbers (overlayfs), so inode, size and build-id decide. One object
    // must be asked with one scope only.
    [[nodiscard]] Result<ProbeFile*> open(const TargetFile& file,
                                          ElfScope scope = ElfScope::native);

    // Of a path that was opened here; null: it was not.
    [[nodiscard]] std::shared_ptr<const HeldFile> hold(const std::string& open_path) const;

private:
    using Content = std::tuple<uint64_t, uint64_t, std::string>;
    DebugFileSearch debug_files_;
    std::map<std::string, ProbeFile*> by_path_;
    std::map<Content, std::unique_ptr<ProbeFile>> by_content_;
};

}  // namespace tracer
