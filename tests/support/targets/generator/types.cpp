// SPDX-License-Identifier: Apache-2.0
//
// Sites of tracer/usdt.h as programs write them, 0 to 12 arguments of every type from every kind of
// place a compiler may leave them in: registers, the stack, static and thread-local memory, behind
// pointers, constants. Called by matrix_generator.
#include "generator.h"

#include <array>
#include <string>
#include <vector>

namespace tracer::test {

namespace {

struct Field {
    std::string_view name;  // in struct generated_types
    std::string_view type;
    std::string_view log;  // what makes a hit_value of it
    std::string_view constant;
};

constexpr std::array<Field, 12> kFields{{
    {"s32", "int32_t", "hit_integer(-4, (uint64_t)(", "-123456"},
    {"u64", "uint64_t", "hit_integer(8, (", "0xfedcba9876543210u"},
    {"pointer", "const char*", "hit_integer(8, (uintptr_t)(", ""},
    {"s8", "int8_t", "hit_integer(-1, (uint64_t)(", "-5"},
    {"f64", "double", "generated_f64((", ""},
    {"u16", "uint16_t", "hit_integer(2, (", "65535"},
    {"s64", "int64_t", "hit_integer(-8, (uint64_t)(", "-81985529216486895"},
    {"f32", "float", "generated_f32((", ""},
    {"u8", "uint8_t", "hit_integer(1, (", "200"},
    {"s16", "int16_t", "hit_integer(-2, (uint64_t)(", "-32768"},
    {"u32", "uint32_t", "hit_integer(4, (", "4000000000u"},
    {"boolean", "bool", "hit_integer(1, (", "1"},
}};

constexpr size_t kSources = 8;
constexpr size_t kMixes = 4;

// The field's value from one of the places; constants of a float or a pointer have none that a
// reader of the note can know.
std::string expression_of(const Field& field, size_t source) {
    const std::string name(field.name);
    const std::string type(field.type);
    const bool is_integer = !field.constant.empty();
    switch (source) {
        case 0:
            return "local." + name;
        case 1:
            return "type_global." + name;
        case 2:
            return "type_array[i]." + name;
        case 3:
            return "from->" + name;
        case 4:
            return "type_thread." + name;
        case 5:
            return "stacked." + name;
        case 6:
            return is_integer ? "(" + type + ")" + std::string(field.constant) : "from[1]." + name;
        default:
            // Worked out, so most often in a register.
            if (field.name == "boolean") return "(bool)(bits >> i & 1)";
            return is_integer ? "(" + type + ")(local." + name + " + (" + type + ")bits)"
                              : "(from[i % 2]." + name + " + 1)";
    }
}

struct Probe {
    std::string name;
    bool has_semaphore = false;
    bool is_guarded = false;
};

class TypeWriter {
public:
    explicit TypeWriter(std::ostream& out) : out_(out) {}

    // One site of `count` arguments, of which `mix` chooses types and places.
    void site(size_t count, size_t mix) {
        const std::string suffix = std::to_string(count) + "_" + std::to_string(mix);
        const Probe probe{"types_" + suffix, mix % 2 == 1, mix == 3};
        std::vector<std::string> expressions;
        std::string log;
        for (size_t k = 0; k < count; ++k) {
            const auto& field = kFields[(k + 5 * mix + count) % kFields.size()];
            expressions.push_back(expression_of(field, (3 * k + mix + count) % kSources));
            log += ", " + std::string(field.log) + expressions.back() + "))";
        }
        declare(probe, 1);
        open_function(probe.name);
        out_
            << "    const struct generated_types local = generated_types_of(bits + 1);\n"
               "    const volatile struct generated_types stacked = generated_types_of(bits + 2);\n"
               "    (void)from;\n    (void)i;\n    (void)local;\n    (void)stacked;\n";
        fire(probe, expressions, log);
        out_ << "}\n\n";
    }

    // A function of `count` arguments that is inlined in three places: three sites, in which the
    // same argument is a constant, in a register or in memory.
    void inlined(size_t count) {
        const Probe probe{"inlined_" + std::to_string(count), count % 2 == 0, false};
        declare(probe, 3);
        std::vector<std::string> names;
        std::string parameters;
        std::string log;
        for (size_t k = 0; k < count; ++k) {
            const auto& field = kFields[k % kFields.size()];
            names.push_back("a" + std::to_string(k));
            parameters += (k == 0 ? "" : ", ") + std::string(field.type) + " " + names.back();
            log += ", " + std::string(field.log) + names.back() + "))";
        }
        const std::string function = "fire_" + probe.name;
        out_ << "static inline __attribute__((always_inline)) void " << function << "("
             << (parameters.empty() ? "void" : parameters) << ") {\n";
        fire(probe, names, log);
        out_ << "}\n";
        open_function(probe.name);
        out_ << "    const struct generated_types local = generated_types_of(bits + 3);\n"
                "    (void)from;\n    (void)i;\n    (void)local;\n";
        for (const size_t first : {size_t{6}, size_t{3}, size_t{7}}) {
            out_ << "    " << function << "(";
            for (size_t k = 0; k < count; ++k) {
                const auto& field = kFields[k % kFields.size()];
                // Neither case 5 nor another needs more than the parameters and `local`.
                const size_t source = first == 3 && k % 2 == 1 ? 1 : first;
                out_ << (k == 0 ? "" : ", ") << expression_of(field, source);
            }
            out_ << ");\n";
        }
        out_ << "}\n\n";
    }

    void finish() {
        out_ << "void generated_hit_types(uint64_t round) {\n"
                "    struct generated_types from[2];\n"
                "    const unsigned i = (unsigned)(round % 8);\n"
                "    for (unsigned k = 0; k < 8; k++) {\n"
                "        type_array[k] = generated_types_of(matrix_bits(round, k));\n"
                "    }\n"
                "    from[0] = generated_types_of(matrix_bits(round, 8));\n"
                "    from[1] = generated_types_of(matrix_bits(round, 9));\n"
                "    type_global = generated_types_of(matrix_bits(round, 10));\n"
                "    type_thread = generated_types_of(matrix_bits(round, 11));\n"
             << calls_ << "}\n\n"
             << "const struct generated_semaphore generated_type_semaphores[] = {\n"
             << semaphores_ << "};\n"
             << "const unsigned generated_type_semaphore_count = "
                "sizeof(generated_type_semaphores) / sizeof(generated_type_semaphores[0]);\n";
    }

private:
    void declare(const Probe& probe, size_t sites) {
        if (!probe.has_semaphore) return;
        out_ << "TRACER_SEMAPHORE(generated, " << probe.name << ")\n";
        semaphores_ += "{\"" + probe.name + "\", &generated_" + probe.name + "_semaphore, " +
                       std::to_string(sites) + "},\n";
    }

    void open_function(const std::string& name) {
        out_ << "static MATRIX_SITE void hit_" << name
             << "(const struct generated_types* from, uint64_t bits, unsigned i) {\n"
                "    (void)bits;\n";
        calls_ += "    hit_" + name + "(from, matrix_bits(round, " +
                  std::to_string(20 + functions_++) + "), i);\n";
    }

    void fire(const Probe& probe,
              const std::vector<std::string>& expressions,
              const std::string& log) {
        const std::string macro =
            probe.has_semaphore ? "TRACER_PROBE_WITH_SEMAPHORE" : "TRACER_PROBE";
        // The hit is logged in any case: a guard that stays closed is a hit that is missed.
        out_ << (probe.is_guarded
                     ? "    if (TRACER_PROBE_ENABLED(generated, " + probe.name + ")) {\n"
                     : "    {\n")
             << "        " << macro << "(generated, " << probe.name;
        for (const auto& expression : expressions) out_ << ", " << expression;
        out_ << ");\n    }\n";
        if (expressions.empty()) {
            out_ << "    hit_log_add(\"" << probe.name << "\", 0, NULL);\n";
        } else {
            out_ << "    HIT_LOG(\"" << probe.name << "\"" << log << ");\n";
        }
    }

    std::ostream& out_;
    std::string calls_;
    std::string semaphores_;
    size_t functions_ = 0;
};

}  // namespace

void write_types(std::ostream& out) {
    out << kSourceHead
        << "#include \"matrix.h\"\n"
           "#include \"tracer/usdt.h\"\n\n"
           "static struct generated_types type_global;\n"
           "static struct generated_types type_array[8];\n"
           "static __thread struct generated_types type_thread;\n\n";
    TypeWriter writer(out);
    for (size_t count = 0; count <= 12; ++count) {
        for (size_t mix = 0; mix < kMixes; ++mix) writer.site(count, mix);
        writer.inlined(count);
    }
    writer.finish();
}

}  // namespace tracer::test
