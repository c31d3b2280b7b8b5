#include "case.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace opconform {
namespace {

using Json = nlohmann::json;

/// The object of a list that has a value at a key, or an empty object.
Json object_with(const Json& list, const std::string& key, const Json& value) {
    for (const auto& object : list) {
        if (object.value(key, Json()) == value) {
            return object;
        }
    }
    return Json::object();
}

/// The declared inputs of the operation under test, by the names of the tensors that its node takes.
std::map<std::string, Json> ports_of(const Json& document) {
    const auto node = object_with(document.at("graph").at("nodes"), "under_test", true);
    const auto declarations = document.value("declarations", Json::array());
    const auto declared = object_with(declarations, "name", node.at("op")).value("inputs", Json::array());
    std::map<std::string, Json> ports;
    for (std::size_t place = 0; place < std::min(node.at("inputs").size(), declared.size()); ++place) {
        if (!node.at("inputs").at(place).is_null()) {
            ports[node.at("inputs").at(place)] = declared.at(place);
        }
    }
    return ports;
}

}  // namespace

Case case_of(const Json& document) {
    Case asked{document.at("id"), document.at("op"), document.at("graph"), {}};
    auto ports = ports_of(document);
    for (const auto& input : document.at("inputs")) {
        const std::string name = input.at("name");
        const auto port = ports.contains(name) ? ports.at(name) : Json::object();
        asked.inputs.push_back({name, input.at("element_type"), input.at("role"), input.at("binding"),
                                port.value("types", std::vector<std::string>{}), port.value("prefix", name)});
    }
    return asked;
}

}  // namespace opconform
