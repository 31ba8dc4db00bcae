// SPDX-License-Identifier: Apache-2.0
//
// Spells sites of exact operand text in C (see GENERATED_SITE in generated.h). Called by the forms
// in notes.cpp.
#include "note_writer.h"

#include <algorithm>

namespace tracer::test {

namespace {

constexpr size_t kArgumentsMax = 12;

std::string fixed_only(bool only_fixed, const std::string& text) {
    return only_fixed ? "#ifndef __PIE__\n" + text + "#endif\n" : text;
}

}  // namespace

void NoteWriter::spread(const Group& group, const std::vector<Argument>& arguments) {
    size_t next = 0;
    for (size_t probe = 0; next < arguments.size(); ++probe) {
        const size_t count = std::min<size_t>(arguments_next_, arguments.size() - next);
        arguments_next_ = arguments_next_ == kArgumentsMax ? 1 : arguments_next_ + 1;
        const std::vector<Argument> part(arguments.begin() + static_cast<long>(next),
                                         arguments.begin() + static_cast<long>(next + count));
        next += count;
        const std::string name = group.name + "_" + std::to_string(probe);
        const bool has_semaphore = site_count_ % 3 == 0;
        if (has_semaphore) add_semaphore(name, 1, group.only_fixed);
        add_site(group, name, has_semaphore, part);
    }
}

void NoteWriter::sites(const Group& group, const std::vector<std::vector<Argument>>& sites) {
    add_semaphore(group.name, sites.size(), group.only_fixed);
    for (const auto& arguments : sites) add_site(group, group.name, true, arguments);
}

void NoteWriter::finish() {
    out_ << "const struct generated_site generated_sites[] = {\n"
         << rows_ << "};\n"
         << "const unsigned generated_site_count = sizeof(generated_sites) / "
            "sizeof(generated_sites[0]);\n"
         << "const struct generated_semaphore generated_note_semaphores[] = {\n"
         << semaphores_ << "};\n"
         << "const unsigned generated_note_semaphore_count = "
            "sizeof(generated_note_semaphores) / sizeof(generated_note_semaphores[0]);\n";
}

void NoteWriter::add_semaphore(const std::string& probe, size_t sites, bool only_fixed) {
    const std::string name = "generated_" + probe + "_semaphore";
    out_ << fixed_only(only_fixed, "GENERATED_SEMAPHORE(" + name + ");\n");
    semaphores_ += fixed_only(
        only_fixed, "{\"" + probe + "\", &" + name + ", " + std::to_string(sites) + "},\n");
}

void NoteWriter::add_site(const Group& group,
                          const std::string& probe,
                          bool has_semaphore,
                          const std::vector<Argument>& arguments) {
    const std::string number = std::to_string(site_count_++);
    const std::string label = "generated_site_" + number;
    const std::string list = "arguments_" + number;
    std::string operands;
    std::string rows;
    for (const auto& argument : arguments) {
        const auto& place = argument.place;
        operands += (operands.empty() ? "" : " ") + std::to_string(argument.type.size) +
                    (argument.type.is_float ? "f@" : "@") + place.text;
        rows += "{" + std::to_string(argument.type.size) + ", " + place.kind + ", " + place.origin +
                ", " + std::to_string(place.base) + ", " + std::to_string(place.shift) + ", " +
                std::to_string(place.index) + ", " + std::to_string(place.scale) + ", " +
                place.number + "},\n";
    }
    const std::string semaphore = has_semaphore ? "generated_" + probe + "_semaphore" : "0";
    std::string text = "extern void " + label + "(void);\nGENERATED_SITE(\"" + label +
                       "\", RAW_NOTE(\"generated\", \"" + probe + "\", \"" + semaphore + "\", \"" +
                       operands + "\"));\n";
    if (!arguments.empty()) {
        text += "static const struct generated_argument " + list + "[] = {\n" + rows + "};\n";
    }
    out_ << fixed_only(group.only_fixed, text);
    rows_ += fixed_only(group.only_fixed, "{\"" + probe + "\", " + label + ", " + group.setup +
                                              ", " + group.contents + ", " +
                                              std::to_string(group.index) + ", " + group.bias +
                                              ", " + std::to_string(arguments.size()) + ", " +
                                              (arguments.empty() ? "0" : list) + "},\n");
}

}  // namespace tracer::test
