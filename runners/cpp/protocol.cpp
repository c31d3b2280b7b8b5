#include "protocol.hpp"

#include <map>
#include <stdexcept>

#include "case.hpp"

namespace opconform {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;
constexpr std::size_t kLongestMessage = 2'000;

/// A reply on one line; invalid UTF-8 in a backend's message becomes U+FFFD.
std::string line_of(const Json& reply) {
    return reply.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string shortened(const std::string& message) {
    return message.substr(0, kLongestMessage);
}

}  // namespace

Request request_of(const std::string& line) {
    static const std::map<std::string, Request::Command> commands{
        {"start", Request::Command::start}, {"run", Request::Command::run}, {"stop", Request::Command::stop}};
    Json document;
    try {
        document = Json::parse(line);
        const auto command = commands.at(document.at("cmd"));
        const auto seq = command == Request::Command::run ? document.at("seq").get<std::int64_t>() : 0;
        if (command == Request::Command::start && document.at("protocol") != kVersion) {
            throw std::runtime_error("the harness supports only version 1 of the protocol");
        }
        return {command, seq, std::move(document)};
    } catch (const std::exception& fault) {
        throw std::runtime_error(std::string("A line is not a request of the protocol: ") + fault.what());
    }
}

Run run_of(const Request& request) {
    const auto& document = request.document;
    const std::filesystem::path folder = document.at("dir").get<std::string>();
    const auto& model = document.at("model");
    Run run{case_of(document.at("case")), model.is_null() ? "" : folder / model.get<std::string>(), {}};
    for (const auto& each : document.at("feeds")) {
        run.feeds.push_back({folder / each.at("inputs").get<std::string>(), each.at("outputs").get<std::string>()});
    }
    return run;
}

namespace {

/// A text, or null if it is empty.
Json known(const std::string& text) {
    return text.empty() ? Json() : Json(text);
}

}  // namespace

std::string said_line(const Implementation& implementation) {
    return line_of({{"protocol", kVersion},
                    {"implementation",
                     {{"name", implementation.name},
                      {"version", implementation.version},
                      {"device", implementation.device},
                      {"hardware", known(implementation.hardware)},
                      {"driver", known(implementation.driver)},
                      {"language", "c++"}}},
                    {"dialects", implementation.dialects},
                    {"element_types", implementation.element_types},
                    {"operations", implementation.operations},
                    {"dynamic", implementation.dynamic},
                    {"bindings", implementation.bindings},
                    {"packs", implementation.packs}});
}

std::string ok_line(std::int64_t seq, double seconds, const std::vector<Outputs>& feeds, const Placement& placement) {
    auto element_types = Json::array();
    for (const auto& outputs : feeds) {
        auto names = Json::array();
        for (const auto& each : outputs) {
            names.push_back(each.element_type);
        }
        element_types.push_back(names);
    }
    Json placed{{"devices", placement.devices}};
    if (placement.threads) {
        placed["threads"] = *placement.threads;
    }
    return line_of({{"seq", seq},
                    {"status", "ok"},
                    {"seconds", seconds},
                    {"element_types", element_types},
                    {"placement", placed}});
}

std::string rejected_line(std::int64_t seq, double seconds, const Rejected& answer) {
    Json reply{{"seq", seq},
               {"status", "rejected"},
               {"stage", answer.stage},
               {"message", shortened(answer.what())},
               {"seconds", seconds}};
    if (answer.requirement) {
        reply["requirement"] = *answer.requirement;
    }
    return line_of(reply);
}

std::string unsupported_line(std::int64_t seq, double seconds, const Unsupported& answer) {
    return line_of(
        {{"seq", seq}, {"status", "unsupported"}, {"message", shortened(answer.what())}, {"seconds", seconds}});
}

std::string error_line(std::int64_t seq, const std::string& message) {
    return line_of({{"seq", seq}, {"status", "error"}, {"message", shortened(message)}});
}

}  // namespace opconform
