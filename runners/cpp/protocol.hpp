/// The harness protocol, version 1 (docs/protocol.md): one JSON object a line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "backend.hpp"

namespace opconform {

/// Where a feed's inputs lie, and where its outputs are to be written.
struct Feed {
    std::filesystem::path inputs;
    std::filesystem::path outputs;
};

/// What a request to run a case asks for.
struct Run {
    Case asked;
    std::filesystem::path model;  ///< Empty for a backend that declares no dialects.
    std::vector<Feed> feeds;
};

/// A line from standard input. What a run asks for is read later, so that a fault in it has a number to be replied to.
struct Request {
    enum class Command { start, run, stop };

    Command command;
    std::int64_t seq;  ///< 0 but for a run.
    nlohmann::json document;
};

/// The request that a line holds; throws std::runtime_error if it is not one that can be replied to.
Request request_of(const std::string& line);

/// What a request to run a case asks for; throws std::exception where it does not say.
Run run_of(const Request& request);

/// The replies, one line each.
std::string said_line(const Implementation& implementation);
std::string ok_line(std::int64_t seq, double seconds, const std::vector<Outputs>& feeds,
                    const Placement& placement);
std::string rejected_line(std::int64_t seq, double seconds, const Rejected& answer);
std::string unsupported_line(std::int64_t seq, double seconds, const Unsupported& answer);
std::string error_line(std::int64_t seq, const std::string& message);

}  // namespace opconform
