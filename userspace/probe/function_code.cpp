// SPDX-License-Identifier: Apache-2.0
//
// Reading functions with Zydis. Go's prologue is that of cmd/internal/obj/x86/obj6.go (stacksplit):
// a comparison of rsp, or of rsp less a large frame in r12, with g.stackguard0 at 0x10(r14), then
// jbe to a call of runtime.morestack and a jump back to the first instruction.
//
// Called by return_way.cpp; tested on bytes alone.
#include "probe/function_code.h"

#include <Zydis/Zydis.h>
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace tracer {

namespace {

class Instructions {
public:
    Instructions() {
        ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    }

    // False: the bytes at the front are no whole instruction.
    bool decode(std::span<const std::byte> code) {
        return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder_, code.data(), code.size(),
                                                   &instruction_, operands_.data()));
    }
    [[nodiscard]] ZydisMnemonic mnemonic() const { return instruction_.mnemonic; }
    [[nodiscard]] size_t bytes() const { return instruction_.length; }
    [[nodiscard]] ZydisInstructionCategory category() const { return instruction_.meta.category; }
    [[nodiscard]] const ZydisDecodedOperand& operand(size_t index) const {
        return operands_[index];
    }
    [[nodiscard]] size_t operand_count() const { return instruction_.operand_count_visible; }

    // Where a jump leads; nullopt: through a register or memory.
    [[nodiscard]] std::optional<uint64_t> target(uint64_t address) const {
        ZyanU64 to = 0;
        const bool is_direct =
            operands_[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
            ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction_, operands_.data(), address, &to));
        return is_direct ? std::optional<uint64_t>(to) : std::nullopt;
    }

private:
    ZydisDecoder decoder_{};
    ZydisDecodedInstruction instruction_{};
    std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands_{};
};

struct Jump {
    uint64_t from = 0;
    uint64_t to = 0;
    bool is_conditional = false;
};

// What runs after an instruction: the next one, or not.
struct Step {
    uint64_t address = 0;
    uint64_t next = 0;  // 0: never the one behind it
    std::optional<uint64_t> jump;
    bool is_filling = false;  // between blocks: never meant to run
};

class FunctionReader {
public:
    FunctionReader(std::span<const CodePart> parts,
                   bool has_tables_elsewhere,
                   const std::function<bool(uint64_t)>& is_entry)
        : parts_(parts), has_tables_elsewhere_(has_tables_elsewhere), is_entry_(is_entry) {}

    FunctionCode read() {
        for (const CodePart& part : parts_) read_part(part);
        std::ranges::sort(steps_, {}, &Step::address);
        check_jumps();
        check_pointer_jumps();
        return std::move(result_);
    }

private:
    // The first obstacle is the one told of.
    void refuse(std::string_view what, uint64_t address) {
        if (!result_.obstacle.empty()) return;
        result_.obstacle = what;
        result_.obstacle_place = place(address);
    }

    [[nodiscard]] std::string place(uint64_t address) const {
        const CodePart* part = part_of(address);
        if (part == nullptr) return "elsewhere";
        return fmt::format("at +{:#x}{}", address - part->address,
                           part == parts_.data() ? "" : " of its cold part");
    }

    [[nodiscard]] const CodePart* part_of(uint64_t address) const {
        const auto found = std::ranges::find_if(parts_, [&](const CodePart& part) {
            return address >= part.address && address - part.address < part.bytes.size();
        });
        return found == parts_.end() ? nullptr : &*found;
    }

    [[nodiscard]] std::optional<size_t> step_at(uint64_t address) const {
        const auto found = std::ranges::lower_bound(steps_, address, {}, &Step::address);
        if (found == steps_.end() || found->address != address) return std::nullopt;
        return static_cast<size_t>(found - steps_.begin());
    }

    void read_part(const CodePart& part) {
        size_t offset = 0;
        // Each turn takes at least one byte.
        while (offset < part.bytes.size()) {
            const uint64_t address = part.address + offset;
            if (!instructions_.decode(part.bytes.subspan(offset))) {
                return refuse("holds bytes that are no instruction", address);
            }
            offset += instructions_.bytes();
            steps_.push_back({address, part.address + offset, {}, is_filling()});
            take(steps_.back());
            follow_table();
        }
    }

    [[nodiscard]] bool is_filling() const {
        switch (instructions_.mnemonic()) {
            case ZYDIS_MNEMONIC_INT3:
            case ZYDIS_MNEMONIC_UD2:
            case ZYDIS_MNEMONIC_HLT:
                return true;
            default:
                return instructions_.category() == ZYDIS_CATEGORY_NOP ||
                       instructions_.category() == ZYDIS_CATEGORY_WIDENOP;
        }
    }

    void take(Step& step) {
        switch (instructions_.category()) {
            case ZYDIS_CATEGORY_RET:
                result_.returns.push_back(step.address);
                step.next = 0;
                return;
            case ZYDIS_CATEGORY_CALL:
                result_.has_call = true;
                return;
            case ZYDIS_CATEGORY_COND_BR:
                return take_jump(step, true);
            case ZYDIS_CATEGORY_UNCOND_BR:
                step.next = 0;
                return take_jump(step, false);
            default:
                return;
        }
    }

    void take_jump(Step& step, bool is_conditional) {
        step.jump = instructions_.target(step.address);
        if (step.jump) {
            jumps_.push_back({step.address, *step.jump, is_conditional});
            return;
        }
        const auto& operand = instructions_.operand(0);
        const bool is_table = operand.type == ZYDIS_OPERAND_TYPE_MEMORY &&
                              operand.mem.index != ZYDIS_REGISTER_NONE && operand.mem.scale == 8;
        if (has_tables_elsewhere_ && is_table) return;
        const bool is_table_of_offsets =
            operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value == table_jump_;
        if (is_table_of_offsets) return;
        pointer_jumps_.push_back(step.address);
    }

    // movslq (TABLE,INDEX,4), X; add TABLE, X; jmp *X. No call of a pointer looks like that.
    void follow_table() {
        const auto& into = instructions_.operand(0);
        const auto& from = instructions_.operand(1);
        const bool is_register = into.type == ZYDIS_OPERAND_TYPE_REGISTER;
        const auto loaded = std::exchange(table_offset_, ZYDIS_REGISTER_NONE);
        table_jump_ = ZYDIS_REGISTER_NONE;
        if (!is_register) return;
        if (instructions_.mnemonic() == ZYDIS_MNEMONIC_MOVSXD) {
            const bool is_indexed = from.type == ZYDIS_OPERAND_TYPE_MEMORY && from.mem.scale == 4 &&
                                    from.mem.index != ZYDIS_REGISTER_NONE;
            if (is_indexed) table_offset_ = into.reg.value;
        } else if (instructions_.mnemonic() == ZYDIS_MNEMONIC_ADD && into.reg.value == loaded &&
                   from.type == ZYDIS_OPERAND_TYPE_REGISTER) {
            table_jump_ = loaded;
        }
    }

    // A jump into the middle of an instruction says that the reading went astray.
    void check_jumps() {
        for (const Jump& jump : jumps_) {
            if (part_of(jump.to) != nullptr) {
                if (!step_at(jump.to)) refuse("has a jump between two instructions", jump.from);
            } else if (!is_entry_ || !is_entry_(jump.to)) {
                refuse("is left by a jump into another", jump.from);
            } else if (jump.is_conditional) {
                // A breakpoint there is hit whether the jump is taken or not.
                refuse("is left by a conditional jump to another", jump.from);
            } else {
                result_.tail_jumps.push_back({jump.from, jump.to});
            }
        }
    }

    void check_pointer_jumps() {
        if (pointer_jumps_.empty() || !result_.obstacle.empty()) return;
        if (!reaches_all()) {
            return refuse("has a jump through a table or pointer", pointer_jumps_.front());
        }
        for (const uint64_t from : pointer_jumps_) result_.tail_jumps.push_back({from, {}});
    }

    // Whether direct jumps lead to every block.
    [[nodiscard]] bool reaches_all() const {
        std::vector<bool> is_reached(steps_.size());
        std::vector<uint64_t> open{parts_.front().address};
        // Ends: a step is entered once.
        while (!open.empty()) {
            const auto index = step_at(open.back());
            open.pop_back();
            if (!index || is_reached[*index]) continue;
            is_reached[*index] = true;
            const Step& step = steps_[*index];
            if (step.next != 0) open.push_back(step.next);
            if (step.jump) open.push_back(*step.jump);
        }
        for (size_t i = 0; i < steps_.size(); ++i) {
            if (!is_reached[i] && !steps_[i].is_filling) return false;
        }
        return true;
    }

    std::span<const CodePart> parts_;
    bool has_tables_elsewhere_;
    const std::function<bool(uint64_t)>& is_entry_;
    Instructions instructions_;
    FunctionCode result_;
    std::vector<Step> steps_;
    std::vector<Jump> jumps_;
    std::vector<uint64_t> pointer_jumps_;
    ZydisRegister table_offset_ = ZYDIS_REGISTER_NONE;  // holds an entry of a jump table
    ZydisRegister table_jump_ = ZYDIS_REGISTER_NONE;    // holds the place that it leads to
};

// cmp 0x10(%r14), with rsp or r12.
bool is_stack_check(const Instructions& instructions) {
    if (instructions.mnemonic() != ZYDIS_MNEMONIC_CMP) return false;
    const auto is_limit = [](const ZydisDecodedOperand& operand) {
        return operand.type == ZYDIS_OPERAND_TYPE_MEMORY &&
               operand.mem.base == ZYDIS_REGISTER_R14 && operand.mem.index == ZYDIS_REGISTER_NONE &&
               operand.mem.disp.has_displacement && operand.mem.disp.value == 0x10;
    };
    const auto& left = instructions.operand(0);
    const auto& right = instructions.operand(1);
    return left.type == ZYDIS_OPERAND_TYPE_REGISTER &&
           (left.reg.value == ZYDIS_REGISTER_RSP || left.reg.value == ZYDIS_REGISTER_R12) &&
           is_limit(right);
}

}  // namespace

FunctionCode read_function_code(std::span<const CodePart> parts,
                                bool has_tables_elsewhere,
                                const std::function<bool(uint64_t)>& is_entry) {
    if (parts.empty()) return {};
    return FunctionReader(parts, has_tables_elsewhere, is_entry).read();
}

std::optional<uint64_t> offset_behind_stack_check(std::span<const std::byte> code) {
    // mov, sub, jb, cmp, jbe: the longest form, of frames that could wrap around.
    constexpr int kPrologueMax = 5;
    Instructions instructions;
    size_t offset = 0;
    bool is_checked = false;
    for (int i = 0; i < kPrologueMax && offset < code.size(); ++i) {
        if (!instructions.decode(code.subspan(offset))) return std::nullopt;
        offset += instructions.bytes();
        if (is_checked) {
            const bool is_branch = instructions.mnemonic() == ZYDIS_MNEMONIC_JBE;
            return is_branch && offset < code.size() ? std::optional<uint64_t>(offset)
                                                     : std::nullopt;
        }
        is_checked = is_stack_check(instructions);
    }
    return std::nullopt;
}

}  // namespace tracer
