// SPDX-License-Identifier: Apache-2.0
//
// Relies on the C++ runtime's own demangler (cxxabi.h). It bounds its recursion, but neither its
// output nor its time: back references ("S1_") let a short name stand for an endless one, and there
// are expressions that it never comes back from. As names come from the memory of any process, a
// scanner lets those forms pass that the types of exceptions have. Called by the decoder for texts
// that have the format /type; allocates for names that are new to it only.
#include "decode/cxx_type_names.h"

#include "tracer/abi/event.h"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace tracer {

namespace {

constexpr size_t kNamesMax = 512;
constexpr size_t kMangledBytesMax = 512;
constexpr size_t kNameBytesMax = 2048;
// A name of N bytes and K back references stands for less than N * e^(K / e) bytes: the most that
// it can do is to refer to all that stands before, and to that again, and so on.
constexpr size_t kBackReferencesMax = 16;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

// Whether a mangled name is made of nested and local names, templates, pointers, functions, arrays,
// plain types, literals of these, and not too many back references (Itanium C++ ABI, 5.1). What is
// left out are expressions (X, DT, Dt), packs (Dp), parameters (T) and lambdas (Ul).
class TypeNameScanner {
public:
    explicit TypeNameScanner(std::string_view name) : name_(name) {}

    bool run() {
        // Each turn takes a character.
        while (at_ < name_.size()) {
            if (!take_one()) return false;
        }
        return true;
    }

private:
    bool take_one() {
        const char c = name_[at_];
        if (is_digit(c)) return take_identifier();
        ++at_;
        switch (c) {
            case 'S':
                return take_substitution();
            case 'A':  // A3_
                take_digits();
                return accept('_');
            case 'L':  // Li5E: the number is not the length of a name
                if (peek() < 'a' || peek() > 'z') return false;
                ++at_;
                static_cast<void>(accept('n'));
                take_digits();
                return accept('E');
            case 'D':
                return std::string_view("acdefhinosu").find(peek()) != std::string_view::npos &&
                       at_++ < name_.size();
            case 'U':  // Ut_, Ut0_
                if (!accept('t')) return false;
                take_digits();
                return accept('_');
            case '_':  // _0, __10_: which of several local types of a name
                return take_discriminator();
            case 'c':  // a conversion, whose type is no type's
                return peek() != 'v';
            default:
                return (c >= 'a' && c <= 'z') ||
                       std::string_view("BEFIJKMNOPRVZ").find(c) != std::string_view::npos;
        }
    }

    bool take_identifier() {
        size_t bytes = 0;
        // Ends by then: a larger number is refused.
        while (is_digit(peek()) && bytes <= kMangledBytesMax) {
            bytes = bytes * 10 + static_cast<size_t>(name_[at_++] - '0');
        }
        if (bytes == 0 || bytes > name_.size() - at_) return false;
        at_ += bytes;
        return true;
    }

    bool take_substitution() {
        if (peek() >= 'a' && peek() <= 'z') return true;
        while (is_digit(peek()) || is_upper(peek())) ++at_;
        return accept('_') && ++back_references_ <= kBackReferencesMax;
    }

    bool take_discriminator() {
        if (!accept('_')) return is_digit(peek()) && at_++ < name_.size();
        take_digits();
        return accept('_');
    }

    void take_digits() {
        while (is_digit(peek())) ++at_;
    }

    bool accept(char c) {
        if (peek() != c) return false;
        ++at_;
        return true;
    }

    // At the end a NUL, which no name holds.
    [[nodiscard]] char peek() const { return at_ < name_.size() ? name_[at_] : '\0'; }

    std::string_view name_;
    size_t at_ = 0;
    size_t back_references_ = 0;
};

struct Free {
    void operator()(char* text) const { std::free(text); }
};

// Empty: there is none.
std::string demangle_type(std::string_view mangled) {
    // GCC marks the names of types that only one file knows.
    if (mangled.starts_with('*')) mangled.remove_prefix(1);
    if (mangled.size() > kMangledBytesMax || !TypeNameScanner(mangled).run()) return {};
    int status = 0;
    const std::unique_ptr<char, Free> name(
        abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status));
    if (status != 0 || name == nullptr) return {};
    std::string text(name.get());
    return text.size() <= kNameBytesMax ? text : std::string();
}

}  // namespace

std::string_view CxxTypeNames::name_of(std::string_view mangled) {
    const auto found = known_.find(mangled);
    const auto& name = found != known_.end()
                           ? found->second
                           : known_.emplace(mangled, demangle_type(mangled)).first->second;
    return name.empty() ? mangled : std::string_view(name);
}

void CxxTypeNames::make_room() {
    if (known_.size() + TR_ARGS_MAX > kNamesMax) known_.clear();
}

}  // namespace tracer
