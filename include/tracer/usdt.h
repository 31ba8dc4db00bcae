/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACER_USDT_H
#define TRACER_USDT_H

/*
 * Static probes for C11 and C++11 programs: each site is one instruction and a note in the ELF file
 * that says where it is and where its arguments are. Nothing is linked and nothing runs until a
 * tracer attaches.
 *
 *     TRACER_PROBE(shop, order__paid, order_id, amount);        // provider, name, 0..12 arguments
 *
 *     TRACER_SEMAPHORE(shop, order__dump)                       // once, at file scope
 *     if (TRACER_PROBE_ENABLED(shop, order__dump)) {
 *         TRACER_PROBE_WITH_SEMAPHORE(shop, order__dump, dump_text(order));
 *     }
 *     TRACER_PROBE_IF_ENABLED(shop, order__dump, dump_text(order));   // the same in one line
 *
 *     TRACER_SPAN("load");                 // from here to the end of the scope, in C++ and GNU C
 *
 * TRACER_SPAN makes a pair of probes that are the same for all spans of a program: at the start
 * app:span__begin(name, scope), at the end of the scope, be it by an exception, app:span__end(name,
 * scope). `name` is a NUL-ended text that lives as long as the scope, `scope` the address of
 * something in it, which no other open scope of the process has. Define TRACER_SPAN_PROVIDER before
 * the header comes in to have another provider than "app". To record them:
 *
 *     tracer --pid N -e 'usdt:app:span__begin ~~ usdt:app:span__end'     // each called by its name
 *
 * The names of <sys/sdt.h> (DTRACE_PROBE, DTRACE_PROBE1..12, STAP_PROBE, STAP_PROBE1..12,
 * STAP_PROBEV) are there as well unless that header came first; with _SDT_HAS_SEMAPHORES defined
 * they refer to a semaphore of the program's own named provider_name_semaphore, as they do there.
 * STAP_PROBE_ASM, a site within assembler text of the program's own, is not.
 *
 * Arguments are integers, booleans, enumerations, pointers, arrays (their address) and float or
 * double (their bits), of at most 8 bytes; anything else does not compile, nor does a bit-field in
 * C (write +x.field). A note gives the size of each, negative when the type is signed, and 4f or 8f
 * for floating point.
 *
 * The site is one 1-byte nop on purpose. Linux 6.18 turns a probe on a 5-byte nop into a call whose
 * return address overwrites the red zone below the stack pointer, and whose target a forked child
 * has not mapped: leaf functions read garbage and children die. Neither can happen to a 1-byte nop.
 *
 * On processors other than x86-64 every macro expands to nothing and TRACER_PROBE_ENABLED is 0.
 * The assembler text is in AT&T syntax, so -masm=intel does not work.
 */

#if defined(__x86_64__) && defined(__GNUC__)
#define TRACER_USDT_SUPPORTED 1
#else
#define TRACER_USDT_SUPPORTED 0
#endif

#if TRACER_USDT_SUPPORTED

/*
 * What the note says of an argument's type, as one constant, because an asm statement takes at most
 * 30 operands and 12 arguments already need 24: the size, negative when signed, or ten times the
 * size for floating point. The assembler turns it into text (TRACER_USDT_ARG_TEXT).
 */
#define TRACER_USDT_FLOAT 40
#define TRACER_USDT_DOUBLE 80

#ifdef __cplusplus

#include <type_traits>

namespace tracer_usdt {

template <typename T, bool is_enum = std::is_enum<T>::value>
struct Integer {
    typedef T type;
};
template <typename T>
struct Integer<T, true> {
    typedef typename std::underlying_type<T>::type type;
};

/* Of decltype((x)): a reference most of the time, and arrays and functions are passed as pointers.
 */
template <typename X>
struct Argument {
    typedef typename std::decay<X>::type Passed;
    typedef typename Integer<Passed>::type Plain;
    static_assert(std::is_arithmetic<Plain>::value || std::is_pointer<Plain>::value ||
                      std::is_same<Plain, decltype(nullptr)>::value,
                  "a probe argument is an integer, an enumeration, a pointer or a float");
    static_assert(sizeof(Passed) <= 8, "a probe argument has at most 8 bytes");
    static constexpr int size = static_cast<int>(sizeof(Passed));
    static constexpr int code = std::is_floating_point<Plain>::value ? 10 * size
                                : std::is_signed<Plain>::value       ? -size
                                                                     : size;
};

} /* namespace tracer_usdt */

#define TRACER_USDT_TYPE(x) (tracer_usdt::Argument<decltype((x))>::code)

#else /* C */

/* Declared and never defined: not a constant, so such an argument fails to compile. */
extern int tracer_usdt_not_an_argument(void);

/*
 * Enumerations match their integer type. What matches nothing must be a pointer (class 5), or an
 * array or function, which are pointers here; structures and bit-fields are not.
 */
/* __extension__: C99 with -pedantic. clang-format 14 does not know _Generic. */
/* clang-format off */
#define TRACER_USDT_TYPE(x)                                                          \
    __extension__ _Generic((x),                                                      \
        _Bool: 1,                                                                    \
        char: (char)-1 < 0 ? -1 : 1,                                                 \
        signed char: -1,                                                             \
        unsigned char: 1,                                                            \
        short: -2,                                                                   \
        unsigned short: 2,                                                           \
        int: -4,                                                                     \
        unsigned int: 4,                                                             \
        long: -(int)sizeof(long),                                                    \
        unsigned long: (int)sizeof(long),                                            \
        long long: -8,                                                               \
        unsigned long long: 8,                                                       \
        float: TRACER_USDT_FLOAT,                                                    \
        double: TRACER_USDT_DOUBLE,                                                  \
        default: __builtin_classify_type(x) == 5 ? 8 : tracer_usdt_not_an_argument())
/* clang-format on */

#endif /* C */

#define TRACER_USDT_TEXT_OF(x) #x
#define TRACER_USDT_TEXT(x) TRACER_USDT_TEXT_OF(x)
#define TRACER_USDT_JOIN_OF(a, b) a##b
#define TRACER_USDT_JOIN(a, b) TRACER_USDT_JOIN_OF(a, b)
#define TRACER_USDT_LINE(text) text "\n\t"

/*
 * The site and its note: name "stapsdt", type 3, then the addresses of the site, of a base and of
 * the semaphore (0: none), then provider, name and arguments as strings. The section flag "?" puts
 * the note into the COMDAT group of the function around it, so that both are kept or dropped
 * together. The base is a symbol of one per file: a tool that moves addresses later (prelink)
 * changes the section of the base and not the note, and readers see by how much.
 */
/* clang-format off: one line of assembler a line */
#define TRACER_USDT_SITE(provider, name, semaphore, arguments)                                  \
    TRACER_USDT_LINE("990: nop")                                                                \
    TRACER_USDT_LINE(".pushsection .note.stapsdt,\"?\",\"note\"")                               \
    TRACER_USDT_LINE(".balign 4")                                                               \
    TRACER_USDT_LINE(".4byte 992f-991f, 994f-993f, 3")                                          \
    TRACER_USDT_LINE("991: .asciz \"stapsdt\"")                                                 \
    TRACER_USDT_LINE("992: .balign 4")                                                          \
    TRACER_USDT_LINE("993: .8byte 990b, _.stapsdt.base, " semaphore)                            \
    TRACER_USDT_LINE(".asciz \"" TRACER_USDT_TEXT(provider) "\"")                               \
    TRACER_USDT_LINE(".asciz \"" TRACER_USDT_TEXT(name) "\"")                                   \
    arguments TRACER_USDT_LINE(".byte 0") TRACER_USDT_LINE("994: .balign 4") TRACER_USDT_LINE(  \
        ".popsection") TRACER_USDT_LINE(".ifndef _.stapsdt.base")                               \
        TRACER_USDT_LINE(".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat") \
            TRACER_USDT_LINE(".weak _.stapsdt.base") TRACER_USDT_LINE(".hidden _.stapsdt.base") \
                TRACER_USDT_LINE("_.stapsdt.base: .space 1")                                    \
                    TRACER_USDT_LINE(".size _.stapsdt.base, 1") TRACER_USDT_LINE(".popsection") \
                        TRACER_USDT_LINE(".endif")
/* clang-format on */

/* "-4@%eax": the type constant k as text, then the operand as the compiler spells it. */
#define TRACER_USDT_ARG_TEXT(k, before)                          \
    TRACER_USDT_LINE(".if %c[usdt_type" #k "] == 40")            \
    TRACER_USDT_LINE(".ascii \"" before "4f\"")                  \
    TRACER_USDT_LINE(".elseif %c[usdt_type" #k "] == 80")        \
    TRACER_USDT_LINE(".ascii \"" before "8f\"")                  \
    TRACER_USDT_LINE(".else")                                    \
    TRACER_USDT_LINE(".ascii \"" before "%c[usdt_type" #k "]\"") \
    TRACER_USDT_LINE(".endif")                                   \
    TRACER_USDT_LINE(".ascii \"@%[usdt_arg" #k "]\"")

/*
 * "nor": a number, a memory operand with an offset, or a general register; never an SSE register,
 * which a probe handler cannot see, so the compiler moves floats. A memory operand may be a global
 * variable, `-4@counter(%rip)`, which a tracer finds only by the symbol: define this as "nr" in a
 * program that is stripped, and at most about ten arguments fit.
 */
#ifndef TRACER_USDT_CONSTRAINT
#define TRACER_USDT_CONSTRAINT "nor"
#endif
#define TRACER_USDT_OPERAND(k, x) \
    , [usdt_type##k] "n"(TRACER_USDT_TYPE(x)), [usdt_arg##k] TRACER_USDT_CONSTRAINT(x)

#define TRACER_USDT_SEMAPHORE_NAME(provider, name) provider##_##name##_semaphore
#define TRACER_USDT_SEMAPHORE_OF(provider, name) TRACER_USDT_SEMAPHORE_NAME(provider, name)

/*
 * The 16-bit counter that the kernel raises once per attached site. In a section of its own: in
 * .bss it would have no bytes in the file, and the kernel, which finds it by file offset, would
 * silently never raise it. Weak, so that several files may carry the same line; hidden, so that its
 * address is a constant in shared libraries too.
 */
#ifdef __cplusplus
#define TRACER_USDT_C_LINKAGE(declaration) \
    extern "C" {                           \
    declaration                            \
    }
#else
#define TRACER_USDT_C_LINKAGE(declaration) declaration
#endif
#define TRACER_USDT_SEMAPHORE_PLACE \
    __attribute__((weak, used, visibility("hidden"), section(".probes")))
/* clang-format off */
#define TRACER_SEMAPHORE(provider, name)                                                 \
    TRACER_USDT_C_LINKAGE(TRACER_USDT_SEMAPHORE_PLACE volatile unsigned short            \
                              TRACER_USDT_SEMAPHORE_OF(provider, name) = 0;)
/* clang-format on */

/* Whether a tracer is attached to a probe that TRACER_SEMAPHORE names. */
#define TRACER_PROBE_ENABLED(provider, name) \
    __builtin_expect(TRACER_USDT_SEMAPHORE_OF(provider, name) != 0, 0)

/* By number of arguments: their text, and their operands after the comma that another needs. */
#define TRACER_USDT_TEXTS0
#define TRACER_USDT_TEXTS1 TRACER_USDT_ARG_TEXT(1, "")
#define TRACER_USDT_TEXTS2 TRACER_USDT_TEXTS1 TRACER_USDT_ARG_TEXT(2, " ")
#define TRACER_USDT_TEXTS3 TRACER_USDT_TEXTS2 TRACER_USDT_ARG_TEXT(3, " ")
#define TRACER_USDT_TEXTS4 TRACER_USDT_TEXTS3 TRACER_USDT_ARG_TEXT(4, " ")
#define TRACER_USDT_TEXTS5 TRACER_USDT_TEXTS4 TRACER_USDT_ARG_TEXT(5, " ")
#define TRACER_USDT_TEXTS6 TRACER_USDT_TEXTS5 TRACER_USDT_ARG_TEXT(6, " ")
#define TRACER_USDT_TEXTS7 TRACER_USDT_TEXTS6 TRACER_USDT_ARG_TEXT(7, " ")
#define TRACER_USDT_TEXTS8 TRACER_USDT_TEXTS7 TRACER_USDT_ARG_TEXT(8, " ")
#define TRACER_USDT_TEXTS9 TRACER_USDT_TEXTS8 TRACER_USDT_ARG_TEXT(9, " ")
#define TRACER_USDT_TEXTS10 TRACER_USDT_TEXTS9 TRACER_USDT_ARG_TEXT(10, " ")
#define TRACER_USDT_TEXTS11 TRACER_USDT_TEXTS10 TRACER_USDT_ARG_TEXT(11, " ")
#define TRACER_USDT_TEXTS12 TRACER_USDT_TEXTS11 TRACER_USDT_ARG_TEXT(12, " ")

#define TRACER_USDT_OPERANDS0(name)
#define TRACER_USDT_OPERANDS1(name, a1) TRACER_USDT_OPERANDS0(name) TRACER_USDT_OPERAND(1, a1)
#define TRACER_USDT_OPERANDS2(name, a1, a2) \
    TRACER_USDT_OPERANDS1(name, a1) TRACER_USDT_OPERAND(2, a2)
#define TRACER_USDT_OPERANDS3(name, a1, a2, a3) \
    TRACER_USDT_OPERANDS2(name, a1, a2) TRACER_USDT_OPERAND(3, a3)
#define TRACER_USDT_OPERANDS4(name, a1, a2, a3, a4) \
    TRACER_USDT_OPERANDS3(name, a1, a2, a3) TRACER_USDT_OPERAND(4, a4)
#define TRACER_USDT_OPERANDS5(name, a1, a2, a3, a4, a5) \
    TRACER_USDT_OPERANDS4(name, a1, a2, a3, a4) TRACER_USDT_OPERAND(5, a5)
#define TRACER_USDT_OPERANDS6(name, a1, a2, a3, a4, a5, a6) \
    TRACER_USDT_OPERANDS5(name, a1, a2, a3, a4, a5) TRACER_USDT_OPERAND(6, a6)
#define TRACER_USDT_OPERANDS7(name, a1, a2, a3, a4, a5, a6, a7) \
    TRACER_USDT_OPERANDS6(name, a1, a2, a3, a4, a5, a6) TRACER_USDT_OPERAND(7, a7)
#define TRACER_USDT_OPERANDS8(name, a1, a2, a3, a4, a5, a6, a7, a8) \
    TRACER_USDT_OPERANDS7(name, a1, a2, a3, a4, a5, a6, a7) TRACER_USDT_OPERAND(8, a8)
#define TRACER_USDT_OPERANDS9(name, a1, a2, a3, a4, a5, a6, a7, a8, a9) \
    TRACER_USDT_OPERANDS8(name, a1, a2, a3, a4, a5, a6, a7, a8) TRACER_USDT_OPERAND(9, a9)
#define TRACER_USDT_OPERANDS10(name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) \
    TRACER_USDT_OPERANDS9(name, a1, a2, a3, a4, a5, a6, a7, a8, a9) TRACER_USDT_OPERAND(10, a10)
#define TRACER_USDT_OPERANDS11(name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11) \
    TRACER_USDT_OPERANDS10(name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)          \
    TRACER_USDT_OPERAND(11, a11)
#define TRACER_USDT_OPERANDS12(name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12) \
    TRACER_USDT_OPERANDS11(name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)          \
    TRACER_USDT_OPERAND(12, a12)

/*
 * What the variadic macros are given begins with the probe's name, so it is never empty, as C11
 * demands.
 */
#define TRACER_USDT_COUNT(...) \
    TRACER_USDT_COUNT_OF(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0)
#define TRACER_USDT_COUNT_OF(x, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, n, ...) n
#define TRACER_USDT_FIRST(...) TRACER_USDT_FIRST_OF(__VA_ARGS__, 0)
#define TRACER_USDT_FIRST_OF(first, ...) first

/*
 * The whole statement. The semaphore is assembler text; text "%c[usdt_semaphore]" is the operand
 * `address`, which keeps the variable alive under link-time optimisation. The memory clobber makes
 * the compiler finish its stores first: a tracer that follows a pointer argument must find what the
 * program wrote.
 */
/* clang-format off */
#define TRACER_USDT_PROBE(provider, semaphore, address, n, ...)                          \
    __asm__ __volatile__(                                                                \
        TRACER_USDT_SITE(provider, TRACER_USDT_FIRST(__VA_ARGS__), semaphore,            \
                         TRACER_USDT_JOIN(TRACER_USDT_TEXTS, n))                         \
        :                                                                                \
        : [usdt_semaphore] "i"(address)                                                  \
          TRACER_USDT_JOIN(TRACER_USDT_OPERANDS, n)(__VA_ARGS__)                         \
        : "memory")
/* clang-format on */

#define TRACER_PROBE(provider, ...) \
    TRACER_USDT_PROBE(provider, "0", 0, TRACER_USDT_COUNT(__VA_ARGS__), __VA_ARGS__)
#define TRACER_PROBE_WITH_SEMAPHORE(provider, ...)                                         \
    TRACER_USDT_PROBE(provider, "%c[usdt_semaphore]",                                      \
                      &TRACER_USDT_SEMAPHORE_OF(provider, TRACER_USDT_FIRST(__VA_ARGS__)), \
                      TRACER_USDT_COUNT(__VA_ARGS__), __VA_ARGS__)
#define TRACER_PROBE_IF_ENABLED(provider, ...)                                \
    do {                                                                      \
        if (TRACER_PROBE_ENABLED(provider, TRACER_USDT_FIRST(__VA_ARGS__))) { \
            TRACER_PROBE_WITH_SEMAPHORE(provider, __VA_ARGS__);               \
        }                                                                     \
    } while (0)

#ifdef _SDT_HAS_SEMAPHORES
#define TRACER_USDT_COMPATIBLE(provider, ...)                                                    \
    TRACER_USDT_PROBE(                                                                           \
        provider,                                                                                \
        TRACER_USDT_TEXT(TRACER_USDT_SEMAPHORE_OF(provider, TRACER_USDT_FIRST(__VA_ARGS__))), 0, \
        TRACER_USDT_COUNT(__VA_ARGS__), __VA_ARGS__)
#else
#define TRACER_USDT_COMPATIBLE(provider, ...) TRACER_PROBE(provider, __VA_ARGS__)
#endif

#ifndef TRACER_SPAN_PROVIDER
#define TRACER_SPAN_PROVIDER app
#endif

/*
 * Static, because each file may have a provider of its own. Inlined, so that each scope is a site
 * without a call.
 */
struct tracer_usdt_span {
    const char* name;
};
static inline __attribute__((always_inline, unused)) void tracer_usdt_begin_span(
    const struct tracer_usdt_span* span) {
    TRACER_PROBE(TRACER_SPAN_PROVIDER, span__begin, span->name, span);
}
static inline __attribute__((always_inline, unused)) void tracer_usdt_end_span(
    const struct tracer_usdt_span* span) {
    TRACER_PROBE(TRACER_SPAN_PROVIDER, span__end, span->name, span);
}

#define TRACER_SPAN(name) TRACER_USDT_SPAN(name, TRACER_USDT_JOIN(tracer_usdt_span_, __COUNTER__))
#define TRACER_USDT_SPAN(name, variable)                         \
    const struct tracer_usdt_span variable                       \
        __attribute__((cleanup(tracer_usdt_end_span))) = {name}; \
    tracer_usdt_begin_span(&(variable))

#else /* not x86-64 */

#define TRACER_SPAN(name) ((void)(name))
#define TRACER_SEMAPHORE(provider, name)
#define TRACER_PROBE_ENABLED(provider, name) 0
#define TRACER_PROBE(provider, ...) ((void)0)
#define TRACER_PROBE_WITH_SEMAPHORE(provider, ...) ((void)0)
#define TRACER_PROBE_IF_ENABLED(provider, ...) ((void)0)
#define TRACER_USDT_COMPATIBLE(provider, ...) ((void)0)

#endif /* not x86-64 */

/* Source compatibility: a program written for <sys/sdt.h> compiles with this header in its place.
 */
#if !defined(_SYS_SDT_H) && !defined(STAP_PROBE) && !defined(DTRACE_PROBE)

#define STAP_PROBEV(provider, ...) TRACER_USDT_COMPATIBLE(provider, __VA_ARGS__)
#define STAP_PROBE(provider, name) TRACER_USDT_COMPATIBLE(provider, name)
#define STAP_PROBE1(provider, name, a1) TRACER_USDT_COMPATIBLE(provider, name, a1)
#define STAP_PROBE2(provider, name, a1, a2) TRACER_USDT_COMPATIBLE(provider, name, a1, a2)
#define STAP_PROBE3(provider, name, a1, a2, a3) TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3)
#define STAP_PROBE4(provider, name, a1, a2, a3, a4) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4)
#define STAP_PROBE5(provider, name, a1, a2, a3, a4, a5) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4, a5)
#define STAP_PROBE6(provider, name, a1, a2, a3, a4, a5, a6) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4, a5, a6)
#define STAP_PROBE7(provider, name, a1, a2, a3, a4, a5, a6, a7) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4, a5, a6, a7)
#define STAP_PROBE8(provider, name, a1, a2, a3, a4, a5, a6, a7, a8) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4, a5, a6, a7, a8)
#define STAP_PROBE9(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9)
#define STAP_PROBE10(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)
#define STAP_PROBE11(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)
#define STAP_PROBE12(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12)
#define DTRACE_PROBE(provider, name) TRACER_USDT_COMPATIBLE(provider, name)
#define DTRACE_PROBE1(provider, name, a1) TRACER_USDT_COMPATIBLE(provider, name, a1)
#define DTRACE_PROBE2(provider, name, a1, a2) TRACER_USDT_COMPATIBLE(provider, name, a1, a2)
#define DTRACE_PROBE3(provider, name, a1, a2, a3) TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3)
#define DTRACE_PROBE4(provider, name, a1, a2, a3, a4) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4)
#define DTRACE_PROBE5(provider, name, a1, a2, a3, a4, a5) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4, a5)
#define DTRACE_PROBE6(provider, name, a1, a2, a3, a4, a5, a6) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4, a5, a6)
#define DTRACE_PROBE7(provider, name, a1, a2, a3, a4, a5, a6, a7) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4, a5, a6, a7)
#define DTRACE_PROBE8(provider, name, a1, a2, a3, a4, a5, a6, a7, a8) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4, a5, a6, a7, a8)
#define DTRACE_PROBE9(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9)
#define DTRACE_PROBE10(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10)
#define DTRACE_PROBE11(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11)
#define DTRACE_PROBE12(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12) \
    TRACER_USDT_COMPATIBLE(provider, name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12)
#endif

#endif /* TRACER_USDT_H */
