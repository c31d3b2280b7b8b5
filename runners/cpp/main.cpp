/// The harness: requests on standard input, replies on standard output, until `stop` or the end of the input.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "backend.hpp"
#include "npz.hpp"
#include "protocol.hpp"

namespace opconform {
namespace {

/// The real standard output, reserved for the protocol; all other output goes to standard error.
std::FILE* own_output() {
    const int kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (kept < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        throw std::runtime_error("standard output or standard error is closed");
    }
    return fdopen(kept, "wb");
}

void say(std::FILE* replies, const std::string& line) {
    if (std::fwrite(line.data(), 1, line.size(), replies) != line.size() || std::fflush(replies) != 0) {
        throw std::runtime_error("standard output cannot be written");
    }
}

std::vector<Inputs> inputs_of(const Run& run) {
    std::vector<Inputs> feeds;
    for (const auto& each : run.feeds) {
        feeds.push_back(read_npz(each.inputs, run.asked.inputs));
    }
    return feeds;
}

/// The reply to a request to run a case. A failure of the harness is a reply too, and the harness continues.
std::string served(Backend& backend, const Request& request) {
    auto started = std::chrono::steady_clock::now();
    const auto spent = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count(); };
    try {
        const auto run = run_of(request);
        const auto feeds = inputs_of(run);
        started = std::chrono::steady_clock::now();
        const auto [outputs, placement] = backend.run(run.asked, run.model, feeds);
        const auto seconds = spent();
        for (std::size_t feed = 0; feed < outputs.size(); ++feed) {
            write_npz(run.feeds.at(feed).outputs, outputs[feed]);
        }
        return ok_line(request.seq, seconds, outputs, placement);
    } catch (const Rejected& answer) {
        return rejected_line(request.seq, spent(), answer);
    } catch (const Unsupported& answer) {
        return unsupported_line(request.seq, spent(), answer);
    } catch (const std::exception& fault) {
        return error_line(request.seq, fault.what());
    } catch (...) {
        return error_line(request.seq, "the backend threw something that is not a std::exception");
    }
}

void serve(std::FILE* replies, Backend& backend) {
    for (std::string line; std::getline(std::cin, line);) {
        const auto request = request_of(line);
        switch (request.command) {
            case Request::Command::start:
                say(replies, said_line(backend.describe()));
                break;
            case Request::Command::run:
                say(replies, served(backend, request));
                break;
            case Request::Command::stop:
                return;
        }
    }
}

}  // namespace
}  // namespace opconform

int main(int count, char** arguments) {
    if (count > 2) {
        std::cerr << "usage: " << arguments[0] << " [DEVICE]\n";
        return 2;
    }
    try {
        auto* replies = opconform::own_output();
        const auto backend = opconform::make_backend(count == 2 ? arguments[1] : "");
        opconform::serve(replies, *backend);
    } catch (const std::exception& fault) {
        std::cerr << fault.what() << '\n';
        return 1;
    }
    std::_Exit(0);  // a backend's clean-up is not under test, and may hang
}
