// SPDX-License-Identifier: Apache-2.0
//
// The client half of the demonstration program. Called by demo_server.cpp.
#include "demo_clients.h"

#include <chrono>
#include <pthread.h>
#include <random>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace tracer::demo {
namespace {

// Mostly popular items, sometimes a rare one, now and then a slow report or a wrong path.
std::string choose_path(std::minstd_rand& random) {
    const unsigned dice = static_cast<unsigned>(random() % 100);
    if (dice < 4) return "/report/" + std::to_string(random() % 10);
    if (dice < 7) return "/missing";
    const unsigned items = dice < 80 ? 12 : 200;
    return "/item/" + std::to_string(random() % items);
}

void ask(const std::string& socket_path, const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return;
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
        const std::string request = "GET " + path + "\n";
        char reply[1024];
        if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) > 0) {
            while (read(fd, reply, sizeof(reply)) > 0) {
            }
        }
    }
    close(fd);
}

}  // namespace

Clients::Clients(std::string socket_path, unsigned count) : socket_path_(std::move(socket_path)) {
    for (unsigned i = 1; i <= count; i++) {
        threads_.emplace_back([this, i] { run(i); });
    }
}

Clients::~Clients() {
    stop_ = true;
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

void Clients::run(unsigned number) {
    pthread_setname_np(pthread_self(), ("demo-client-" + std::to_string(number)).c_str());
    std::minstd_rand random(number);
    while (!stop_) {
        ask(socket_path_, choose_path(random));
        std::this_thread::sleep_for(std::chrono::microseconds(500 + random() % 2500));
    }
}

}  // namespace tracer::demo
