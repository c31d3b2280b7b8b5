/// The comparison of outputs with the expected ones, bit for bit (docs/verdicts.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend.hpp"

namespace opconform {

/// The first difference between the outputs of a feed and the expected ones.
struct Mismatch {
    std::string reason;  ///< count, element-type, shape, value or nan-payload
    std::string sentence;
    std::optional<std::size_t> output;  ///< The number of the output; none if their count differs.
};

/// The first difference; one in values comes before one between NaNs.
std::optional<Mismatch> mismatch_of(const Outputs& expected, const Outputs& actual);

/// The SHA-256 of some bytes, in hexadecimal digits.
std::string sha256_of(const std::string& bytes);

/// The digest of the outputs of all feeds, as in the `readings` of a manifest; empty if one has strings.
std::string digest_of(const std::vector<Outputs>& feeds);

}  // namespace opconform
