/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TRACER_TESTS_RAW_NOTE_H
#define TRACER_TESTS_RAW_NOTE_H

/*
 * A probe site whose operand string is written out, not chosen by the compiler: the only way to
 * have each form exactly. Text for an asm statement; in extended asm a register in `arguments` is
 * spelt %%rax. `semaphore` is a symbol or 0. The bytes are those of TRACER_USDT_SITE.
 */
#define RAW_NOTE(provider, name, semaphore, arguments) \
    RAW_NOTE_ON("nop", provider, name, semaphore, arguments)

/* On another instruction than the usual nop. */
#define RAW_NOP5 ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"
#define RAW_NOTE_ON(instruction, provider, name, semaphore, arguments)      \
    "990: " instruction                                                     \
    "\n"                                                                    \
    ".pushsection .note.stapsdt,\"\",\"note\"\n"                            \
    ".balign 4\n"                                                           \
    ".4byte 992f-991f, 994f-993f, 3\n"                                      \
    "991: .asciz \"stapsdt\"\n"                                             \
    "992: .balign 4\n"                                                      \
    "993: .8byte 990b, _.stapsdt.base, " semaphore                          \
    "\n"                                                                    \
    ".asciz \"" provider                                                    \
    "\"\n"                                                                  \
    ".asciz \"" name                                                        \
    "\"\n"                                                                  \
    ".asciz \"" arguments                                                   \
    "\"\n"                                                                  \
    "994: .balign 4\n"                                                      \
    ".popsection\n"                                                         \
    ".ifndef _.stapsdt.base\n"                                              \
    ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
    ".weak _.stapsdt.base\n"                                                \
    ".hidden _.stapsdt.base\n"                                              \
    "_.stapsdt.base: .space 1\n"                                            \
    ".size _.stapsdt.base, 1\n"                                             \
    ".popsection\n"                                                         \
    ".endif\n"

#endif /* TRACER_TESTS_RAW_NOTE_H */
