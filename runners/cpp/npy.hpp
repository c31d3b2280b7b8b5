#pragma once

#include <cstdint>
#include <vector>

#include "backend.hpp"

namespace opconform {

/// The tensor that the bytes of an `.npy` file hold; throws std::runtime_error where they hold another element type,
/// are pickled, or are cut short.
Tensor tensor_of_npy(const std::vector<std::uint8_t>& file, const std::string& element_type);

/// The bytes of a tensor's `.npy` file.
std::vector<std::uint8_t> npy_of(const Tensor& tensor);

}  // namespace opconform
