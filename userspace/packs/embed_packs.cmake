# SPDX-License-Identifier: Apache-2.0
#
# Writes the source of built_in_packs(): cmake -DOUTPUT=FILE "-DFILES=a.toml;b.toml" -P embed_packs.cmake
list(SORT FILES)
set(source "// Made from userspace/packs/data by embed_packs.cmake.\n#include \"packs/pack_catalog.h\"\n\n#include <array>\n\n")
string(APPEND source "namespace tracer {\n\nnamespace {\n\n")
list(LENGTH FILES count)
string(APPEND source "constexpr std::array<BuiltInPack, ${count}> kPacks{{\n")
foreach(file IN LISTS FILES)
    cmake_path(GET file STEM LAST_ONLY name)
    file(READ ${file} text)
    string(APPEND source "    {\"${name}\", R\"tracer_pack(${text})tracer_pack\"},\n")
endforeach()
string(APPEND source "}};\n\n}  // namespace\n\nstd::span<const BuiltInPack> built_in_packs() {\n    return kPacks;\n}\n\n}  // namespace tracer\n")
# Beside it and renamed, so that a build cut short leaves no half.
file(WRITE ${OUTPUT}.tmp "${source}")
file(RENAME ${OUTPUT}.tmp ${OUTPUT})
