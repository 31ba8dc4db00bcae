// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/fixtures/child_process.h"
#include "support/fixtures/temp_folder.h"

#include <cstdint>
#include <string>

namespace tracer::test {

inline constexpr const char* kPhp = "/usr/bin/php8.2";
inline constexpr const char* kPhpFpm = "/usr/sbin/php-fpm8.2";
inline constexpr const char* kApache = "/usr/sbin/apache2";
inline constexpr const char* kApachePhp = "/usr/lib/apache2/modules/libphp8.2.so";

// The web server of PHP's command line, on the loopback. Killed at the end.
class PhpWebServer {
public:
    // Serves the scripts of a folder.
    [[nodiscard]] static Result<PhpWebServer> start(const std::string& folder);

    [[nodiscard]] pid_t pid() const { return server_.pid(); }
    // What the server answers, with its head.
    [[nodiscard]] Result<std::string> get(const std::string& path) const;

private:
    PhpWebServer(ChildProcess server, uint16_t port) : server_(std::move(server)), port_(port) {}

    ChildProcess server_;
    uint16_t port_;
};

// PHP's FastCGI server with two workers, on a Unix socket in a folder of its own.
class PhpFpm {
public:
    [[nodiscard]] static Result<PhpFpm> start();

    [[nodiscard]] pid_t master_pid() const { return server_.pid(); }
    // Runs a script as the page `uri`; what the worker answers.
    [[nodiscard]] Result<std::string> get(const std::string& script, const std::string& uri) const;

private:
    PhpFpm(TempFolder folder, ChildProcess server)
        : folder_(std::move(folder)), server_(std::move(server)) {}

    TempFolder folder_;  // removed after the server is gone: declared first
    ChildProcess server_;
};

// Apache with PHP as its module, on the loopback: one process that serves, the child of another.
class ApachePhp {
public:
    // Serves a copy of `script` as /page.php.
    [[nodiscard]] static Result<ApachePhp> start(const std::string& script);
    // Ends it in order: its worker would outlive a master that is killed.
    ~ApachePhp();
    ApachePhp(ApachePhp&&) noexcept = default;
    ApachePhp& operator=(ApachePhp&&) = delete;
    ApachePhp(const ApachePhp&) = delete;
    ApachePhp& operator=(const ApachePhp&) = delete;

    [[nodiscard]] pid_t master_pid() const { return server_.pid(); }
    // What the server answers, with its head.
    [[nodiscard]] Result<std::string> get(const std::string& path) const;

private:
    ApachePhp(TempFolder folder, ChildProcess server, uint16_t port)
        : folder_(std::move(folder)), server_(std::move(server)), port_(port) {}

    TempFolder folder_;  // removed after the server is gone: declared first
    ChildProcess server_;
    uint16_t port_;
};

}  // namespace tracer::test
