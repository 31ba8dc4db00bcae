// SPDX-License-Identifier: Apache-2.0
//
// matrix_generator FOLDER: writes generated_notes.c and generated_types.c there. Run by the build.
#include "generator.h"

#include <cstdio>
#include <fstream>
#include <string>

namespace {

bool write_file(const std::string& path, void (*write)(std::ostream&)) {
    std::ofstream out(path);
    write(out);
    if (out.flush()) return true;
    std::fprintf(stderr, "matrix_generator: cannot write %s\n", path.c_str());
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: matrix_generator FOLDER\n");
        return 2;
    }
    const std::string folder = argv[1];
    return write_file(folder + "/generated_notes.c", tracer::test::write_notes) &&
                   write_file(folder + "/generated_types.c", tracer::test::write_types)
               ? 0
               : 1;
}
