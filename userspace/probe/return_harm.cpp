// SPDX-License-Identifier: Apache-2.0
//
// The rule goes by names, because that is how the functions are known to compilers too (GCC's
// special_function_p for those that return twice). Seen on glibc 2.36 with every function of it
// probed at its return: the shell's exit, siglongjmp, setcontext and pthread_exit went wrong.
// Called by compile_function.
#include "probe/return_harm.h"

#include <algorithm>
#include <array>

namespace tracer {

namespace {

// Without leading underscores, and without glibc's mark for calls from within.
std::string_view plain_name(std::string_view symbol) {
    constexpr std::string_view kInternal = "__GI_";
    if (symbol.starts_with(kInternal)) symbol.remove_prefix(kInternal.size());
    symbol.remove_prefix(std::min(symbol.find_first_not_of('_'), symbol.size()));
    return symbol;
}

template <size_t N>
bool is_among(std::string_view name, const std::array<std::string_view, N>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string_view harm_of_return_probe(std::string_view symbol) {
    // GCC and clang move unlikely code of a function into such a part, which is jumped to.
    const bool is_part =
        symbol.ends_with(".cold") || symbol.find(".cold.") != std::string_view::npos;
    const auto name = plain_name(symbol);
    constexpr std::array<std::string_view, 5> kNotCalled = {"start", "dl_start_user", "restore_rt",
                                                            "start_context", "morestack"};
    if (is_part || is_among(name, kNotCalled) || name.starts_with("dl_runtime_resolve") ||
        name.starts_with("dl_runtime_profile")) {
        return "code that is not called, where a return probe overwrites what is on the stack";
    }
    constexpr std::array<std::string_view, 6> kReturnAgain = {
        "setjmp", "sigsetjmp", "savectx", "getcontext", "swapcontext", "setcontext"};
    if (is_among(name, kReturnAgain)) {
        return "a function that returns more than once, to an address that a return probe replaces";
    }
    constexpr std::array<std::string_view, 11> kUnwind = {
        "cxa_throw",
        "cxa_rethrow",
        "Unwind_RaiseException",
        "Unwind_Resume",
        "Unwind_Resume_or_Rethrow",
        "Unwind_ForcedUnwind",
        "Unwind_Backtrace",
        "pthread_exit",
        "pthread_unwind",
        "pthread_unwind_next",
        "ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE"};
    if (is_among(name, kUnwind)) {
        return "a function that unwinds the stack, which a return probe cuts";
    }
    return {};
}

bool is_never_unwound(std::string_view symbol) {
    auto name = plain_name(symbol);
    constexpr std::string_view kLibrary = "libc_";
    if (name.starts_with(kLibrary)) name.remove_prefix(kLibrary.size());
    constexpr std::array<std::string_view, 10> kAllocation = {
        "malloc",        "calloc",         "realloc", "reallocarray", "free",
        "aligned_alloc", "posix_memalign", "valloc",  "pvalloc",      "memalign"};
    constexpr std::array<std::string_view, 9> kLocks = {
        "pthread_mutex_lock",      "pthread_mutex_trylock",   "pthread_mutex_unlock",
        "pthread_rwlock_rdlock",   "pthread_rwlock_wrlock",   "pthread_rwlock_unlock",
        "pthread_mutex_timedlock", "pthread_mutex_clocklock", "lll_lock_wait"};
    return is_among(name, kAllocation) || is_among(name, kLocks);
}

}  // namespace tracer
