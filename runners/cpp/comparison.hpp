/// The comparison of outputs with the expected ones: bit for bit, or with the bounds of rounded results
/// (docs/rounding.md).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backend.hpp"

namespace opconform {

/// An expected output.
struct Expected {
    Tensor golden;
    std::string comparison;  ///< As in case.json: bits, numbers or bounds.
    Tensor lower;            ///< The least right elements, if there are bounds.
    Tensor upper;            ///< The largest ones.
    std::optional<std::pair<Tensor, Tensor>> reduced;  ///< Those of results that are less accurate, and not wrong.
    Tensor also;             ///< Other right values of each element, along the first dimension.
    Tensor otherwise;        ///< The values of each element by other readings, likewise.
    Tensor otherwise_lower;  ///< The bounds of these, if the output has bounds.
    Tensor otherwise_upper;
    /// Which of these are of an interpretation, and not of a misread normative requirement.
    std::vector<bool> is_reading;
};

/// The first difference between the outputs of a feed and the expected ones.
struct Mismatch {
    std::string reason;  ///< count, element-type, shape, value, rounding or nan-payload
    std::string sentence;
    std::optional<std::size_t> output;  ///< The number of the output; none if their count differs.
};

/// The first difference; one in values comes before one in rounding or between NaNs.
std::optional<Mismatch> mismatch_of(const std::vector<Expected>& expected, const Outputs& actual);

/// Whether all outputs are right if other readings of interpretations decide single elements.
bool are_of_readings(const std::vector<std::vector<Expected>>& expected, const std::vector<Outputs>& actual);

/// Whether an output with bounds is what a kernel computes that misreads a normative requirement.
bool is_misread(const std::vector<Expected>& expected, const Outputs& actual);

/// The SHA-256 of some bytes, in hexadecimal digits.
std::string sha256_of(const std::string& bytes);

/// The digest of the outputs of all feeds, as in the `readings` of a manifest, in which all NaNs of a computed output
/// are one; empty if an output has strings, or if there are more or fewer than expected.
std::string digest_of(const std::vector<Outputs>& feeds, const std::vector<Expected>& expected);

}  // namespace opconform
