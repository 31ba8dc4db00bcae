// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tracer {

// The folder of the control sockets of a user's recordings: /run/tracer for root, for others
// `runtime_folder`/tracer, which is $XDG_RUNTIME_DIR; not_found without that.
[[nodiscard]] Result<std::string> control_folder(uid_t user, const char* runtime_folder);

// A listening socket PID.sock in the folder, which goes when this does.
class ControlSocket {
public:
    // Makes the folder (0700) if need be. Nothing is followed through a symbolic link; a folder
    // that is not ours alone is refused; a socket that nobody listens on any more is replaced.
    [[nodiscard]] static Result<ControlSocket> make(const std::string& folder, uint32_t pid);
    ~ControlSocket() { remove(); }
    ControlSocket(ControlSocket&&) = default;
    ControlSocket& operator=(ControlSocket&&) = delete;
    ControlSocket(const ControlSocket&) = delete;
    ControlSocket& operator=(const ControlSocket&) = delete;

    [[nodiscard]] int fd() const { return socket_.get(); }

private:
    ControlSocket(UniqueFd folder, UniqueFd socket, std::string name)
        : folder_(std::move(folder)), socket_(std::move(socket)), name_(std::move(name)) {}
    void remove();

    UniqueFd folder_;
    UniqueFd socket_;
    std::string name_;
    uint64_t inode_ = 0;
};

// The recordings whose sockets are in the folder, by pid. Removes those that nobody listens on.
[[nodiscard]] Result<std::vector<uint32_t>> list_recordings(const std::string& folder);

// Connected to the recording's socket; not_found if there is none. Waits no longer than this for
// any one call on it.
[[nodiscard]] Result<UniqueFd> connect_to_recording(const std::string& folder,
                                                    uint32_t pid,
                                                    int timeout_ms);

}  // namespace tracer
