#pragma once

#include <filesystem>

#include "backend.hpp"

namespace opconform {

/// The tensors of an `.npz` file, one for each input of the case that it holds; throws std::runtime_error where the
/// file cannot be read, or is not valid.
Inputs read_npz(const std::filesystem::path& path, const std::vector<Input>& inputs);

/// Writes the outputs of a feed, as output_0, output_1, …
void write_npz(const std::filesystem::path& path, const Outputs& outputs);

}  // namespace opconform
