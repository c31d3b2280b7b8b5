/// A case: what a backend needs of `case.json`.
#pragma once

#include <nlohmann/json.hpp>

#include "backend.hpp"

namespace opconform {

/// The case in a `case.json` with the declarations of its operations (docs/protocol.md); throws std::exception if the
/// document is not one.
Case case_of(const nlohmann::json& document);

}  // namespace opconform
