// SPDX-License-Identifier: Apache-2.0
//
// Breakpoints by ptrace. The child is ended with its tracer (PTRACE_O_EXITKILL), and by an alarm.
#include "unit/symbol/entry_stops.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <set>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tracer::test {

namespace {

constexpr unsigned kSecondsMax = 20;
constexpr unsigned long kBreakpoint = 0xcc;

[[noreturn]] void run_child(const std::string& program) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::alarm(kSecondsMax);
    ::execl(program.c_str(), program.c_str(), nullptr);
    ::_exit(127);
}

bool wait_for_stop(pid_t pid, int& status) {
    while (::waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return false;
    }
    return WIFSTOPPED(status);
}

}  // namespace

uint64_t EntryStop::value_of(tr_reg reg) const {
    switch (reg) {
        case TR_REG_RAX:
            return registers_.rax;
        case TR_REG_RDX:
            return registers_.rdx;
        case TR_REG_RCX:
            return registers_.rcx;
        case TR_REG_RSI:
            return registers_.rsi;
        case TR_REG_RDI:
            return registers_.rdi;
        case TR_REG_R8:
            return registers_.r8;
        case TR_REG_R9:
            return registers_.r9;
        default:
            return 0;
    }
}

std::optional<std::vector<std::byte>> EntryStop::memory(uint64_t address, uint64_t bytes) const {
    std::vector<std::byte> out(bytes);
    iovec local{out.data(), bytes};
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the other process.
    iovec remote{reinterpret_cast<void*>(address), bytes};
    const auto got = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    if (got != static_cast<ssize_t>(bytes)) return std::nullopt;
    return out;
}

std::optional<std::vector<std::byte>> EntryStop::read(const ParameterPlace& place,
                                                      uint64_t bytes) const {
    if (place.kind == PlaceKind::stack) {
        const auto address = registers_.rsp + static_cast<uint64_t>(place.stack_offset);
        return memory(address, bytes);
    }
    if (place.kind == PlaceKind::constant) {
        std::vector<std::byte> out(bytes);
        std::memcpy(out.data(), &place.constant, std::min<uint64_t>(bytes, sizeof(int64_t)));
        return out;
    }
    if (place.kind != PlaceKind::registers) return std::nullopt;
    if (place.is_indirect) return memory(value_of(*place.registers[0]), bytes);
    std::vector<std::byte> out(16);
    for (size_t i = 0; i < place.registers.size(); ++i) {
        if (!place.registers[i]) continue;
        const uint64_t value = value_of(*place.registers[i]);
        std::memcpy(out.data() + 8 * i, &value, sizeof(value));
    }
    out.resize(std::min<uint64_t>(bytes, out.size()));
    return out;
}

int stop_at_entries(const std::string& program,
                    const std::vector<uint64_t>& addresses,
                    const std::function<void(uint64_t address, const EntryStop& stop)>& handler) {
    const pid_t pid = ::fork();
    if (pid == 0) run_child(program);
    int status = 0;
    if (pid < 0 || !wait_for_stop(pid, status)) return -1;
    ::ptrace(PTRACE_SETOPTIONS, pid, nullptr, PTRACE_O_EXITKILL);
    std::map<uint64_t, long> words;
    for (const uint64_t address : std::set<uint64_t>(addresses.begin(), addresses.end())) {
        words[address] = ::ptrace(PTRACE_PEEKTEXT, pid, address, nullptr);
        const auto patched = (static_cast<unsigned long>(words[address]) & ~0xfful) | kBreakpoint;
        ::ptrace(PTRACE_POKETEXT, pid, address, patched);
    }
    std::set<uint64_t> hit;
    // Each turn is one stop of a program that ends by itself, or by its alarm.
    while (::ptrace(PTRACE_CONT, pid, nullptr, nullptr) == 0 && wait_for_stop(pid, status)) {
        user_regs_struct registers{};
        if (WSTOPSIG(status) != SIGTRAP ||
            ::ptrace(PTRACE_GETREGS, pid, nullptr, &registers) != 0) {
            break;
        }
        registers.rip -= 1;
        const auto word = words.find(registers.rip);
        if (word == words.end()) break;
        handler(registers.rip, EntryStop(pid, registers));
        hit.insert(registers.rip);
        // Once is enough: neighbouring words may overlap, so only the byte is put back.
        const long now = ::ptrace(PTRACE_PEEKTEXT, pid, registers.rip, nullptr);
        const auto mended = (static_cast<unsigned long>(now) & ~0xfful) |
                            (static_cast<unsigned long>(word->second) & 0xfful);
        ::ptrace(PTRACE_POKETEXT, pid, registers.rip, mended);
        ::ptrace(PTRACE_SETREGS, pid, nullptr, &registers);
    }
    if (WIFSTOPPED(status)) {
        ::ptrace(PTRACE_KILL, pid, nullptr, nullptr);
        ::waitpid(pid, &status, 0);
    }
    return static_cast<int>(hit.size());
}

}  // namespace tracer::test
