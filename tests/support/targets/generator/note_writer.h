// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::test {

constexpr int kNone = -1;  // no register

struct Type {
    int size;
    bool is_float;
};

// A place as text and as the fields of struct generated_argument.
struct Place {
    std::string text;
    std::string kind = "KIND_MEMORY";
    std::string origin = "ORIGIN_ZERO";
    int base = kNone;
    int shift = 0;
    int index = kNone;
    int scale = 1;
    std::string number = "0";
};

struct Argument {
    Type type;
    Place place;
};

struct Group {
    std::string name;
    std::string setup = "SETUP_VALUES";
    std::string contents = "CONTENTS_BITS";
    int index = kNone;
    std::string bias = "0";
    bool only_fixed = false;  // not in position-independent programs
};

// Writes sites whose operand text is written out, and the tables that say what it means.
class NoteWriter {
public:
    explicit NoteWriter(std::ostream& out) : out_(out) {}

    // Spreads the arguments over probes of 1, 2, ... 12 arguments, and again. Every third has a
    // semaphore.
    void spread(const Group& group, const std::vector<Argument>& arguments);

    // Sites of one probe with a semaphore, each site with its own operands.
    void sites(const Group& group, const std::vector<std::vector<Argument>>& sites);

    void finish();

private:
    void add_semaphore(const std::string& probe, size_t sites, bool only_fixed);
    void add_site(const Group& group,
                  const std::string& probe,
                  bool has_semaphore,
                  const std::vector<Argument>& arguments);

    std::ostream& out_;
    std::string rows_;
    std::string semaphores_;
    size_t site_count_ = 0;
    size_t arguments_next_ = 1;
};

}  // namespace tracer::test
