#include "comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <sstream>
#include <stdexcept>

#include <openssl/evp.h>

#include "element_types.hpp"

namespace opconform {
namespace {

std::string shown(const std::vector<std::size_t>& shape) {
    std::string text;
    for (const auto size : shape) {
        text += (text.empty() ? "" : ", ") + std::to_string(size);
    }
    return text;
}

std::string hexadecimal(const std::uint8_t* bytes, std::size_t size) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (std::size_t place = 0; place < size; ++place) {
        text += digits[bytes[place] >> 4];
        text += digits[bytes[place] & 0xF];
    }
    return text;
}

/// A floating-point type.
struct Format {
    std::uint64_t bits;     ///< Without the sign.
    std::uint64_t largest;  ///< The largest pattern of these bits that is not a NaN.
    int exponents;          ///< The bits of the exponent.
    int fraction;           ///< The bits of the fraction.
    std::uint64_t nan;      ///< The NaN that stands for all in a digest.

    int bias() const { return (1 << (exponents - 1)) - 1; }
    /// The exponent of the least normal number; f8e8m0 has no others.
    int least() const { return fraction == 0 ? -bias() : 1 - bias(); }
    bool is_nan(std::uint64_t pattern) const { return (pattern & bits) > largest; }

    double value(std::uint64_t pattern) const {
        const auto exponent = static_cast<int>((pattern & bits) >> fraction);
        const auto digits = static_cast<double>(pattern & ((std::uint64_t{1} << fraction) - 1));
        const bool is_infinite = exponent == (1 << exponents) - 1 && (pattern & bits) == largest && digits == 0;
        const double one = std::ldexp(1.0, fraction);
        const double size = is_nan(pattern)   ? NAN
                            : fraction == 0   ? std::ldexp(1.0, exponent - bias())
                            : is_infinite     ? INFINITY
                            : exponent == 0   ? std::ldexp(digits, least() - fraction)
                                              : std::ldexp(one + digits, exponent - bias() - fraction);
        return (pattern & ~bits) != 0 ? -size : size;
    }

    /// The unit in the last place of a number.
    double unit(double number) const {
        return std::ldexp(1.0, (number == 0 ? least() : std::max(std::ilogb(number), least())) - fraction);
    }
};

/// The format of an element type; null for one without floating-point numbers.
const Format* format_of(const std::string& element_type) {
    static const std::map<std::string, Format> formats{
        {"f16", {0x7FFF, 0x7C00, 5, 10, 0x7E00}},
        {"bf16", {0x7FFF, 0x7F80, 8, 7, 0x7FC0}},
        {"f32", {0x7FFF'FFFF, 0x7F80'0000, 8, 23, 0x7FC0'0000}},
        {"f64", {0x7FFF'FFFF'FFFF'FFFF, 0x7FF0'0000'0000'0000, 11, 52, 0x7FF8'0000'0000'0000}},
        {"f8e4m3", {0x7F, 0x7E, 4, 3, 0x7F}},
        {"f8e5m2", {0x7F, 0x7C, 5, 2, 0x7E}},
        {"f8e8m0", {0xFF, 0xFE, 8, 0, 0xFF}},
        {"f4e2m1", {0x7, 0x7, 2, 1, 0}},
    };
    const auto format = formats.find(element_type);
    return format == formats.end() ? nullptr : &format->second;
}

bool is_nan(const std::string& element_type, std::uint64_t pattern) {
    const auto* format = format_of(element_type);
    return format != nullptr && format->is_nan(pattern);
}

std::uint64_t pattern_of(const Tensor& tensor, std::size_t element, std::size_t width) {
    std::uint64_t pattern = 0;
    std::memcpy(&pattern, tensor.bytes.data() + element * width, width);
    return pattern;
}

Mismatch value_mismatch(const std::string& output, std::size_t element, const std::string& expected,
                        const std::string& actual, bool only_nan) {
    return {only_nan ? "nan-payload" : "value",
            output + ", element " + std::to_string(element) + ": expected " + expected + ", got " + actual, {}};
}

std::optional<Mismatch> text_mismatch(const Tensor& expected, const Tensor& actual, const std::string& output) {
    const auto [want, got] = std::mismatch(expected.texts.begin(), expected.texts.end(), actual.texts.begin(),
                                           actual.texts.end());
    if (want == expected.texts.end() && got == actual.texts.end()) {
        return std::nullopt;
    }
    if (want == expected.texts.end() || got == actual.texts.end()) {
        throw std::runtime_error(output + " does not have as many strings as its shape says");
    }
    return value_mismatch(output, want - expected.texts.begin(), "'" + *want + "'", "'" + *got + "'", false);
}

std::optional<Mismatch> bits_mismatch(const Tensor& expected, const Tensor& actual, const std::string& output) {
    const auto width = element_type_of(expected.element_type).bytes;
    if (expected.bytes.size() != actual.bytes.size()) {
        throw std::runtime_error(output + " does not have as many bytes as its shape says");
    }
    std::optional<Mismatch> nan;
    for (std::size_t at = 0; at < expected.bytes.size(); at += width) {
        const auto *want = expected.bytes.data() + at, *got = actual.bytes.data() + at;
        if (std::memcmp(want, got, width) == 0) {
            continue;
        }
        std::uint64_t wanted = 0, returned = 0;
        std::memcpy(&wanted, want, width);
        std::memcpy(&returned, got, width);
        const bool both = is_nan(expected.element_type, wanted) && is_nan(expected.element_type, returned);
        if (both && nan) {
            continue;
        }
        auto found = value_mismatch(output, at / width, "the bytes " + hexadecimal(want, width),
                                    hexadecimal(got, width), both);
        if (!both) {
            return found;
        }
        nan = found;
    }
    return nan;
}

/// An element of an output that was computed, and the least and the largest right ones.
struct Element {
    std::uint64_t wanted, returned;
    double want, have, low, high;

    bool is_right() const { return is_inside(low, high); }

    /// Whether it is the wanted one, or within bounds that differ.
    bool is_inside(double least, double most) const {
        return wanted == returned || (std::isnan(want) && std::isnan(have)) ||
               (least < most && least <= have && have <= most);
    }
};

std::string shown(const Element& element, const Format& format) {
    std::ostringstream text;
    text.precision(format.fraction > 23 ? 17 : 9);
    text << "expected " << element.want;
    if (element.low < element.high) {
        text << ", allowed are " << element.low << " to " << element.high;
    }
    text << ", got " << element.have;
    const auto error = std::abs(element.have - element.want);
    if (std::isfinite(error)) {
        const auto bound = element.have > element.want ? element.high - element.want : element.want - element.low;
        text.precision(4);
        text << "; error: " << error / format.unit(element.want) << " units in the last place";
        if (bound > 0) {
            text << ", " << error / bound << " times its bound";
        }
    }
    return text.str();
}

/// The first element outside its bounds, or outside the reduced ones if there is one.
std::optional<Mismatch> rounded_mismatch(const Expected& expected, const Tensor& actual, const std::string& output) {
    const auto& golden = expected.golden;
    const bool has_bounds = expected.comparison == "bounds";
    const auto &lower = has_bounds ? expected.lower : golden, &upper = has_bounds ? expected.upper : golden;
    const auto width = element_type_of(golden.element_type).bytes;
    const auto* format = format_of(golden.element_type);
    const auto &least = expected.reduced ? expected.reduced->first : lower,
               &most = expected.reduced ? expected.reduced->second : upper;
    for (const auto* tensor : {&actual, &lower, &upper, &least, &most}) {
        if (format == nullptr || tensor->bytes.size() != golden.bytes.size()) {
            throw std::runtime_error(output + " does not have as many numbers as its shape says");
        }
    }
    std::optional<Mismatch> first;
    std::size_t wrong = 0;
    const auto count = golden.bytes.size() / width;
    for (std::size_t at = 0; at < count; ++at) {
        const auto value = [&](const Tensor& tensor) { return format->value(pattern_of(tensor, at, width)); };
        const Element element{pattern_of(golden, at, width), pattern_of(actual, at, width), value(golden),
                              value(actual), value(lower), value(upper)};
        if (element.is_right()) {
            continue;
        }
        ++wrong;
        const std::string reason = element.is_inside(value(least), value(most)) ? "rounding" : "value";
        if (!first || (first->reason == "rounding" && reason == "value")) {
            first = Mismatch{reason, output + ", element " + std::to_string(at) + ": " + shown(element, *format), {}};
        }
    }
    if (first) {
        first->sentence += "; elements outside their bounds: " + std::to_string(wrong) + " of " + std::to_string(count);
    }
    return first;
}

/// The golden tensor with, of each element, the actual value where it is one of some others along a first dimension.
Tensor with_values(Tensor golden, const Tensor& actual, const Tensor& values, const std::vector<bool>* which = nullptr) {
    if (actual.shape != golden.shape || actual.element_type != golden.element_type) {
        return golden;
    }
    const auto width = golden.element_type == "string" ? 1 : element_type_of(golden.element_type).bytes;
    const auto count = golden.element_type == "string" ? golden.texts.size() : golden.bytes.size() / width;
    const auto layers = values.shape.empty() ? 0 : values.shape.front();
    for (std::size_t layer = 0; layer < layers; ++layer) {
        for (std::size_t at = 0; at < count && (which == nullptr || (*which)[layer]); ++at) {
            const auto place = layer * count + at;
            if (golden.element_type == "string") {
                golden.texts[at] = values.texts.at(place) == actual.texts.at(at) ? actual.texts[at] : golden.texts[at];
            } else if (std::memcmp(&values.bytes.at(place * width), &actual.bytes.at(at * width), width) == 0) {
                std::memcpy(&golden.bytes[at * width], &actual.bytes[at * width], width);
            }
        }
    }
    return golden;
}

/// The difference in the elements of an output.
std::optional<Mismatch> element_mismatch(const Expected& given, const Tensor& actual, const std::string& output) {
    auto expected = given;
    expected.golden = with_values(given.golden, actual, given.also);
    if (expected.comparison != "bits") {
        return rounded_mismatch(expected, actual, output);
    }
    const bool is_text = expected.golden.element_type == "string";
    return (is_text ? text_mismatch : bits_mismatch)(expected.golden, actual, output);
}

/// The difference in element type or shape.
std::optional<Mismatch> form_mismatch(const Expected& output_of_case, const Tensor& actual, const std::string& output) {
    const auto& expected = output_of_case.golden;
    if (expected.element_type != actual.element_type) {
        return Mismatch{"element-type", output + ": expected " + expected.element_type + ", got " + actual.element_type, {}};
    }
    if (expected.shape != actual.shape) {
        return Mismatch{"shape", output + ": expected the shape [" + shown(expected.shape) + "], got [" + shown(actual.shape) + "]", {}};
    }
    return std::nullopt;
}

/// The output with one NaN in place of every one, if it was computed.
Tensor with_one_nan(Tensor tensor, const Expected& expected) {
    const auto* format = format_of(tensor.element_type);
    if (expected.comparison == "bits" || format == nullptr || tensor.element_type != expected.golden.element_type) {
        return tensor;
    }
    const auto width = element_type_of(tensor.element_type).bytes;
    for (std::size_t at = 0; at < tensor.bytes.size() / width; ++at) {
        if (format->is_nan(pattern_of(tensor, at, width))) {
            std::memcpy(tensor.bytes.data() + at * width, &format->nan, width);
        }
    }
    return tensor;
}

}  // namespace

std::optional<Mismatch> mismatch_of(const std::vector<Expected>& expected, const Outputs& actual) {
    if (expected.size() != actual.size()) {
        return Mismatch{"count",
                        "expected " + std::to_string(expected.size()) + " outputs, got " + std::to_string(actual.size()),
                        {}};
    }
    std::optional<Mismatch> first;
    for (const auto compare : {form_mismatch, element_mismatch}) {
        for (std::size_t number = 0; number < expected.size() && !(first && first->reason == "value"); ++number) {
            auto found = compare(expected[number], actual[number], "output_" + std::to_string(number));
            if (found && (!first || found->reason == "value")) {
                found->output = number;
                first = found;
            }
        }
        if (first) {
            break;
        }
    }
    return first;
}

bool are_of_readings(const std::vector<std::vector<Expected>>& expected, const std::vector<Outputs>& actual) {
    for (std::size_t feed = 0; feed < expected.size(); ++feed) {
        auto outputs = expected[feed];
        auto returned = actual.at(feed);
        if (outputs.size() != returned.size()) {
            return false;
        }
        for (std::size_t number = 0; number < outputs.size(); ++number) {
            auto& output = outputs[number];
            returned[number] = with_one_nan(returned[number], output);
            const auto others = with_one_nan(output.otherwise, output);
            output.golden = with_values(output.golden, returned[number], others, &output.is_reading);
        }
        if (mismatch_of(outputs, returned)) {
            return false;
        }
    }
    return true;
}

bool is_misread(const std::vector<Expected>& expected, const Outputs& actual) {
    for (std::size_t number = 0; number < expected.size(); ++number) {
        const auto& output = expected[number];
        const auto* format = format_of(output.golden.element_type);
        const auto width = element_type_of(output.golden.element_type).bytes;
        const auto count = output.golden.bytes.size() / width;
        for (std::size_t layer = 0; !output.otherwise_lower.bytes.empty() && layer < output.is_reading.size(); ++layer) {
            bool is_inside = !output.is_reading[layer] && format != nullptr;
            for (std::size_t at = 0; is_inside && at < count; ++at) {
                const auto value = [&](const Tensor& tensor) {
                    return format->value(pattern_of(tensor, layer * count + at, width));
                };
                const auto pattern = pattern_of(actual.at(number), at, width);
                const Element element{pattern_of(output.otherwise, layer * count + at, width), pattern,
                                      value(output.otherwise), format->value(pattern), value(output.otherwise_lower),
                                      value(output.otherwise_upper)};
                is_inside = element.is_right();
            }
            if (is_inside) {
                return true;
            }
        }
    }
    return false;
}

std::string sha256_of(const std::string& bytes) {
    std::uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) != 1) {
        throw std::runtime_error("OpenSSL cannot compute a SHA-256");
    }
    return hexadecimal(digest, size);
}

std::string digest_of(const std::vector<Outputs>& feeds, const std::vector<Expected>& expected) {
    std::string all;
    for (const auto& outputs : feeds) {
        if (outputs.size() != expected.size()) {
            return "";
        }
        for (std::size_t number = 0; number < outputs.size(); ++number) {
            const auto tensor = with_one_nan(outputs[number], expected[number]);
            if (tensor.element_type == "string") {
                return "";
            }
            all += "('" + element_type_of(tensor.element_type).stored + "', (" + shown(tensor.shape) +
                   (tensor.shape.size() == 1 ? ",))" : "))") + '\0';
            all.append(tensor.bytes.begin(), tensor.bytes.end());
        }
        all += '\0';
    }
    return sha256_of(all);
}

}  // namespace opconform
