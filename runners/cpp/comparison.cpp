#include "comparison.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
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

/// The bits of a floating-point type without its sign, and the largest of their patterns that is not a NaN.
struct Numbers {
    std::uint64_t bits;
    std::uint64_t largest;
};

bool is_nan(const std::string& element_type, std::uint64_t pattern) {
    static const std::map<std::string, Numbers> types{
        {"f16", {0x7FFF, 0x7C00}},
        {"bf16", {0x7FFF, 0x7F80}},
        {"f32", {0x7FFF'FFFF, 0x7F80'0000}},
        {"f64", {0x7FFF'FFFF'FFFF'FFFF, 0x7FF0'0000'0000'0000}},
        {"f8e4m3", {0x7F, 0x7E}},
        {"f8e5m2", {0x7F, 0x7C}},
        {"f8e8m0", {0xFF, 0xFE}},
    };
    const auto type = types.find(element_type);
    return type != types.end() && (pattern & type->second.bits) > type->second.largest;
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

/// The difference in element type or shape.
std::optional<Mismatch> form_mismatch(const Tensor& expected, const Tensor& actual, const std::string& output) {
    if (expected.element_type != actual.element_type) {
        return Mismatch{"element-type", output + ": expected " + expected.element_type + ", got " + actual.element_type, {}};
    }
    if (expected.shape != actual.shape) {
        return Mismatch{"shape", output + ": expected the shape [" + shown(expected.shape) + "], got [" + shown(actual.shape) + "]", {}};
    }
    return std::nullopt;
}

}  // namespace

std::optional<Mismatch> mismatch_of(const Outputs& expected, const Outputs& actual) {
    if (expected.size() != actual.size()) {
        return Mismatch{"count",
                        "expected " + std::to_string(expected.size()) + " outputs, got " + std::to_string(actual.size()),
                        {}};
    }
    std::optional<Mismatch> first;
    for (const auto compare : {form_mismatch, bits_mismatch}) {
        for (std::size_t number = 0; number < expected.size() && !(first && first->reason == "value"); ++number) {
            const auto is_text = compare == bits_mismatch && expected[number].element_type == "string";
            auto found = (is_text ? text_mismatch : compare)(expected[number], actual[number],
                                                             "output_" + std::to_string(number));
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

std::string sha256_of(const std::string& bytes) {
    std::uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    if (EVP_Digest(bytes.data(), bytes.size(), digest, &size, EVP_sha256(), nullptr) != 1) {
        throw std::runtime_error("OpenSSL cannot compute a SHA-256");
    }
    return hexadecimal(digest, size);
}

std::string digest_of(const std::vector<Outputs>& feeds) {
    std::string all;
    for (const auto& outputs : feeds) {
        for (const auto& tensor : outputs) {
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
