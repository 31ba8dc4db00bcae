// SPDX-License-Identifier: Apache-2.0
//
// Counts exceptions by type: thrown, caught, thrown again, and through std::exception_ptr. Built
// with the shared runtime, with the runtime linked in, all static, and so without its notes.
#include "target.h"

#include <exception>
#include <map>
#include <stdexcept>
#include <string>

namespace app {

struct Refused {
    int code;
};

template <int code>
struct Numbered : std::exception {};

}  // namespace app

namespace {

struct OfThisFile {};

struct Counts {
    std::map<std::string, int> thrown;
    std::map<std::string, int> rethrown;
    std::map<std::string, int> caught;
    std::map<std::string, int> passed_on;  // through std::rethrow_exception
};

__attribute__((noinline)) void fail(int i) {
    if (i % 2 != 0) throw std::runtime_error("odd");
    throw app::Refused{i};
}

__attribute__((noinline)) void pass_on(int i, Counts& counts) {
    try {
        counts.thrown[i % 2 != 0 ? "std::runtime_error" : "app::Refused"]++;
        fail(i);
    } catch (std::exception&) {
        counts.caught["std::runtime_error"]++;
        counts.rethrown["std::runtime_error"]++;
        throw;
    }
}

void run(Counts& counts) {
    for (int i = 0; i < 100; i++) {
        try {
            pass_on(i, counts);
        } catch (app::Refused&) {
            counts.caught["app::Refused"]++;
        } catch (std::runtime_error&) {
            counts.caught["std::runtime_error"]++;
        }
    }
    try {
        counts.thrown["(anonymous namespace)::OfThisFile"]++;
        throw OfThisFile{};
    } catch (OfThisFile&) {
        counts.caught["(anonymous namespace)::OfThisFile"]++;
    }
    try {
        counts.thrown["app::Numbered<7>"]++;
        throw app::Numbered<7>{};
    } catch (std::exception&) {
        counts.caught["app::Numbered<7>"]++;
    }
    std::exception_ptr kept;
    try {
        counts.thrown["std::logic_error"]++;
        throw std::logic_error("kept");
    } catch (...) {
        counts.caught["std::logic_error"]++;
        kept = std::current_exception();
    }
    try {
        counts.passed_on["std::logic_error"]++;
        std::rethrow_exception(kept);
    } catch (std::logic_error&) {
    }
}

void print(const char* name, const std::map<std::string, int>& counts) {
    printf("\"%s\":{", name);
    const char* comma = "";
    for (const auto& [type, count] : counts) {
        printf("%s\"%s\":%d", comma, type.c_str(), count);
        comma = ",";
    }
    printf("}");
}

}  // namespace

int main() try {
    target_ready_and_wait();
    Counts counts;
    run(counts);
    printf("{\"pid\":%d,", static_cast<int>(getpid()));
    print("thrown", counts.thrown);
    printf(",");
    print("rethrown", counts.rethrown);
    printf(",");
    print("caught", counts.caught);
    printf(",");
    print("passed_on", counts.passed_on);
    printf("}\n");
    target_wait_for_end();
    return 0;
} catch (...) {
    return 1;
}
