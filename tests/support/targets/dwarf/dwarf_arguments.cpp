// SPDX-License-Identifier: Apache-2.0
#include "dwarf_arguments.h"

#include <string>
#include <string_view>

namespace shop {

enum class State : uint8_t { idle = 1, busy = 200 };

struct Base {
    int64_t base_value = 101;
};

struct Other {
    int32_t other_value = 102;
};

// Passed by the address of a copy: it has a destructor.
struct Owner {
    explicit Owner(int64_t n) : value(n) {}
    Owner(const Owner& other) : value(other.value) {}
    ~Owner() { TR_USE(value); }
    int64_t value;
};

struct Empty {};

struct Hidden;  // only declared here

class Cart : public Base, public Other {
public:
    TR_OPAQUE Cart(int32_t n) : count_(n) { TR_USE(n); }
    TR_OPAQUE int64_t add(int32_t n, State state) const;
    TR_OPAQUE static int32_t total(int32_t n);
    TR_OPAQUE std::string title(int32_t n) const;

    static int instances;

private:
    int32_t count_;
};

int Cart::instances = 0;

int64_t Cart::add(int32_t n, State state) const {
    TR_USE(n);
    TR_USE(static_cast<int>(state));
    return count_ + n;
}

int32_t Cart::total(int32_t n) {
    TR_USE(n);
    return n;
}

std::string Cart::title(int32_t n) const {
    TR_USE(n);
    return std::string(static_cast<size_t>(n), 'x');
}

TR_OPAQUE void owners(Owner owner, Empty empty, int32_t n, const Cart& cart) {
    TR_USE(owner.value);
    TR_USE(&empty);
    TR_USE(n);
    TR_USE(&cart);
}

template <typename T>
TR_OPAQUE void typed(T value, Hidden* hidden) {
    TR_USE(value);
    TR_USE(hidden);
}

struct Customer {
    int32_t id;
    State state;
    std::string name;
    const int64_t& limit;
};

TR_OPAQUE void texts(const Customer& customer,
                     std::string_view view,
                     const std::string& text,
                     const int32_t& number,
                     Customer* other) {
    TR_USE(&customer);
    TR_USE(view.data());
    TR_USE(view.size());
    TR_USE(&text);
    TR_USE(number);
    TR_USE(other);
}

// Optimised code of it lies in two places: the entry, and apart what throws.
TR_OPAQUE int64_t guarded(int32_t n, int64_t m) {
    if (n < 0) throw std::string("negative");
    TR_USE(n);
    return m + n;
}

}  // namespace shop

int main() {
    shop::Cart cart(201);
    cart.add(202, shop::State::busy);
    shop::Cart::total(203);
    cart.title(4);
    shop::owners(shop::Owner(205), {}, 206, cart);
    shop::typed<int32_t>(-207, nullptr);
    const int64_t limit = 208;
    shop::Customer customer{209, shop::State::idle, "name", limit};
    shop::texts(customer, "view", "text", 210, &customer);
    shop::guarded(211, 212);
    return 0;
}
