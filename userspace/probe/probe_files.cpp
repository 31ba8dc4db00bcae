// SPDX-License-Identifier: Apache-2.0
//
// Opened target files: their notes and symbols are read once, when first asked for. Called by the
// probe compilers and by `tracer list`.
#include "probe/probe_files.h"

#include "symbol/foreign_operand.h"

namespace tracer {

Result<const UsdtNotes*> ProbeFile::notes() {
    if (!notes_) {
        TR_ASSIGN(notes_, read_usdt_notes(elf_));
    }
    return &*notes_;
}

Result<const SymbolTable*> ProbeFile::symbols() {
    if (!symbols_) {
        TR_ASSIGN(symbols_, SymbolTable::load(elf_, debug_files_));
    }
    return &*symbols_;
}

void ProbeFile::name_place(std::string name, uint64_t vaddr) {
    const auto offset = elf_.file_offset_of(vaddr);
    // Without readable symbols nothing is found by a name.
    if (!offset || !symbols()) return;
    symbols_->add_function({std::move(name), vaddr, 0, *offset});
}

Result<const DwarfInfo*> ProbeFile::debug_info() {
    if (!debug_info_) debug_info_.emplace(DwarfInfo::open(elf_, debug_files_));
    if (!*debug_info_) return tl::unexpected(debug_info_->error());
    return &**debug_info_;
}

std::optional<int64_t> ProbeFile::thread_offset_of(std::string_view name) {
    // Only a program's own block lies at a place known before it runs: right below %fs
    // (ELF TLS ABI, variant II). Libraries' blocks come behind, in the order of loading.
    if (!elf_.tls()) return std::nullopt;
    auto dynamic = elf_.dynamic();
    const bool is_program = elf_.is_fixed_address() || (dynamic && dynamic->is_executable_pie);
    auto table = symbols();
    if (!is_program || !table) return std::nullopt;
    auto inside = (*table)->thread_local_of(name);
    if (!inside) return std::nullopt;
    const auto& tls = *elf_.tls();
    const uint64_t block = (tls.memory_bytes + tls.alignment - 1) & ~(tls.alignment - 1);
    return static_cast<int64_t>(*inside - block);
}

std::optional<uint64_t> ProbeFile::got_slot_of(std::string_view name) {
    if (!got_slots_) {
        // A file without readable relocations is one without slots.
        auto loaded = GotSlots::load(elf_);
        got_slots_ = loaded ? std::move(*loaded) : GotSlots{};
    }
    return got_slots_->slot_of(name);
}

std::vector<CompiledOperand> ProbeFile::operands(const UsdtNote& note, size_t& total) {
    if (!elf_.is_native()) return describe_foreign_operands(note.arguments, elf_, &total);
    OperandContext context;
    context.is_fixed_address = elf_.is_fixed_address();
    context.location_vaddr = note.location_vaddr;
    // Few notes name a variable, so the tables are read only when one does.
    context.address_of = [this](std::string_view name) -> std::optional<uint64_t> {
        auto table = symbols();
        return table ? (*table)->address_of(name) : std::nullopt;
    };
    context.got_slot_of = [this](std::string_view name) { return got_slot_of(name); };
    context.thread_offset_of = [this](std::string_view name) { return thread_offset_of(name); };
    return compile_usdt_operands(note.arguments, context, &total);
}

std::shared_ptr<const HeldFile> ProbeFiles::hold(const std::string& open_path) const {
    const auto known = by_path_.find(open_path);
    return known == by_path_.end() ? nullptr : HeldFile::hold(known->second->elf().bytes());
}

Result<ProbeFile*> ProbeFiles::open(const TargetFile& file, ElfScope scope) {
    auto known = by_path_.find(file.open_path);
    if (known != by_path_.end()) return known->second;
    auto opened = ElfFile::open(file.open_path, scope);
    if (!opened) {
        // By the name that the user knows, not by the way there (/proc/N/root).
        Error error = std::move(opened).error();
        if (const size_t at = error.what.find(file.open_path); at != std::string::npos) {
            error.what.replace(at, file.open_path.size(), file.shown_path);
        }
        return tl::unexpected(std::move(error));
    }
    ElfFile& elf = *opened;
    Content content{elf.identity().inode, elf.size(), elf.build_id()};
    // Without a build-id, equal numbers on two devices may be two files.
    if (std::get<2>(content).empty()) {
        std::get<2>(content) = "device " + std::to_string(elf.identity().device);
    }
    auto& slot = by_content_[std::move(content)];
    if (!slot) slot = std::make_unique<ProbeFile>(file, std::move(elf), debug_files_);
    by_path_[file.open_path] = slot.get();
    return slot.get();
}

}  // namespace tracer
