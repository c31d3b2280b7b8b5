#include "npy.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "element_types.hpp"

namespace opconform {
namespace {

static_assert(std::endian::native == std::endian::little, "the bytes of .npy files are used unchanged");

constexpr std::string_view kMagic{"\x93NUMPY", 6};
constexpr std::size_t kLongestHeader = 10'000;
constexpr std::size_t kAlignment = 64;
/// The most digits of a dimension and of the bytes of an element.
constexpr std::size_t kDigits = 19, kWidth = 9;
/// The most characters of a header in a message.
constexpr std::size_t kShown = 200;
/// Plus a byte that is not UTF-8, or a NUL at the end of a string.
constexpr char32_t kByte = 0xDC00;

struct Header {
    std::string stored;  ///< The dtype, as in <f4.
    std::vector<std::size_t> shape;
    std::size_t size;  ///< The bytes before the elements.
};

std::size_t product(std::size_t left, std::size_t right) {
    if (right != 0 && left > std::numeric_limits<std::size_t>::max() / right) {
        throw std::runtime_error("the .npy file's shape has too many elements");
    }
    return left * right;
}

std::size_t elements_of(const std::vector<std::size_t>& shape) {
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
        return 0;
    }
    std::size_t count = 1;
    for (const auto size : shape) {
        count = product(count, size);
    }
    return count;
}

std::size_t little(const std::uint8_t* at, std::size_t width) {
    std::size_t value = 0;
    std::memcpy(&value, at, width);
    return value;
}

/// What is left of a header while it is read from its beginning; a std::regex would take a level of the stack per
/// character.
class Rest {
public:
    explicit Rest(std::string_view text) : text_(text) {}

    /// Whether the text goes on with these characters, which are skipped then.
    bool skip(std::string_view expected) {
        const bool found = text_.starts_with(expected);
        text_.remove_prefix(found ? expected.size() : 0);
        return found;
    }

    /// One of some characters, or nothing.
    std::string one_of(std::string_view letters) {
        return taken(!text_.empty() && letters.find(text_.front()) != letters.npos ? 1 : 0);
    }

    /// The digits that the text goes on with; nothing if there are more than `most`.
    std::string digits(std::size_t most) {
        const auto count = std::min(text_.find_first_not_of("0123456789"), text_.size());
        return taken(count <= most ? count : 0);
    }

    /// Whether there are only spaces before the end of a line, which is the end of the text.
    bool is_blank() const { return text_.ends_with('\n') && text_.find_first_not_of(' ') == text_.size() - 1; }

private:
    std::string taken(std::size_t count) {
        std::string part(text_.substr(0, count));
        text_.remove_prefix(count);
        return part;
    }

    std::string_view text_;
};

/// The dimensions, without parentheses, as Python writes a tuple; nothing if they are written in another form.
std::optional<std::vector<std::size_t>> shape_of(Rest& rest) {
    std::vector<std::size_t> shape;
    bool more = true;
    for (auto number = rest.digits(kDigits); !number.empty(); number = more ? rest.digits(kDigits) : "") {
        shape.push_back(std::stoull(number));
        more = rest.skip(", ");
    }
    if ((!shape.empty() && more) || (shape.size() == 1 && !rest.skip(","))) {
        return std::nullopt;
    }
    return shape;
}

/// The dtype and the shape in the text of a header; nothing if numpy did not write it.
std::optional<Header> parsed(const std::string& text) {
    Rest rest(text);
    if (!rest.skip("{'descr': '")) {
        return std::nullopt;
    }
    const auto order = rest.one_of("<|"), kind = rest.one_of("bifuU"), width = rest.digits(kWidth);
    if (order.empty() || kind.empty() || width.empty() || !rest.skip("', 'fortran_order': False, 'shape': (")) {
        return std::nullopt;
    }
    const auto shape = shape_of(rest);
    if (!shape || !rest.skip("), }") || !rest.is_blank()) {
        return std::nullopt;
    }
    return Header{order + kind + width, *shape, 0};
}

/// The header, as numpy writes it; only arrays in C order are read.
Header header_of(const std::vector<std::uint8_t>& file) {
    if (file.size() < 12 || std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0) {
        throw std::runtime_error("it is not a .npy file");
    }
    const auto major = file[6];
    if ((major != 1 && major != 2) || file[7] != 0) {
        throw std::runtime_error("only versions 1.0 and 2.0 of the .npy format are supported");
    }
    const std::size_t width = major == 1 ? 2 : 4;
    const std::size_t length = little(file.data() + 8, width);
    const std::size_t start = 8 + width + length;
    if (length > kLongestHeader || start > file.size()) {
        throw std::runtime_error("the .npy file's header is cut short, or too long");
    }
    const std::string text(file.begin() + 8 + width, file.begin() + start);
    auto header = parsed(text);
    if (!header) {
        throw std::runtime_error("the .npy file's header cannot be read: " + text.substr(0, kShown));
    }
    header->size = start;
    return *header;
}

void append_utf8(std::string& text, char32_t point) {
    const auto tail = [&](int shift) { text += static_cast<char>(0x80 | ((point >> shift) & 0x3F)); };
    if (point < 0x80) {
        text += static_cast<char>(point);
    } else if (point < 0x800) {
        text += static_cast<char>(0xC0 | (point >> 6));
        tail(0);
    } else if (point < 0x10000) {
        text += static_cast<char>(0xE0 | (point >> 12));
        tail(6);
        tail(0);
    } else {
        text += static_cast<char>(0xF0 | (point >> 18));
        tail(12);
        tail(6);
        tail(0);
    }
}

bool is_character(char32_t point) {
    return point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
}

bool is_byte(char32_t point) {
    return point == kByte || (point >= kByte + 0x80 && point <= kByte + 0xFF);
}

/// A string of numpy: 32-bit code points, padded with zeros.
std::string text_of(const std::uint8_t* at, std::size_t length) {
    std::u32string points(length, U'\0');
    std::memcpy(points.data(), at, length * sizeof(char32_t));
    points.erase(points.find_last_not_of(U'\0') + 1);
    std::string text;
    for (const auto point : points) {
        if (is_byte(point)) {
            text += static_cast<char>(point - kByte);
        } else if (is_character(point)) {
            append_utf8(text, point);
        } else {
            throw std::runtime_error("a string in the .npy file contains an invalid character");
        }
    }
    return text;
}

/// The code points of a string. Bytes that are not UTF-8, and NULs at the end, are marked.
std::u32string points_of(const std::string& text) {
    static constexpr char32_t least[] = {0, 0x80, 0x800, 0x10000};
    std::u32string points;
    for (std::size_t at = 0; at < text.size();) {
        const auto lead = static_cast<std::uint8_t>(text[at++]);
        const std::size_t more = lead < 0x80 ? 0 : lead >> 5 == 0x6 ? 1 : lead >> 4 == 0xE ? 2 : lead >> 3 == 0x1E ? 3 : 4;
        char32_t point = more == 0 ? lead : lead & (0x3F >> more);
        std::size_t read = 0;
        while (read < more && more < 4 && at + read < text.size() && (text[at + read] & 0xC0) == 0x80) {
            point = point << 6 | (text[at + read++] & 0x3F);
        }
        const bool whole = read == more && more < 4 && point >= least[more] && is_character(point);
        points += whole ? point : kByte + lead;
        at += whole ? more : 0;
    }
    const auto kept = points.find_last_not_of(U'\0') + 1;
    std::fill(points.begin() + kept, points.end(), kByte);
    return points;
}

std::string header_text(const std::string& stored, const std::vector<std::size_t>& shape) {
    std::string sizes;
    for (const auto size : shape) {
        sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
    }
    return "{'descr': '" + stored + "', 'fortran_order': False, 'shape': (" + sizes + (shape.size() == 1 ? "," : "") +
           "), }";
}

std::vector<std::uint8_t> npy_of(const std::string& stored, const std::vector<std::size_t>& shape,
                                 const std::uint8_t* bytes, std::size_t size) {
    std::string text = header_text(stored, shape);
    const std::size_t before = kMagic.size() + 4;
    text.append(kAlignment - 1 - (before + text.size()) % kAlignment, ' ');
    text += '\n';
    if (text.size() > kLongestHeader) {
        throw std::runtime_error("an output has too many dimensions for a .npy file");
    }
    std::vector<std::uint8_t> file(kMagic.begin(), kMagic.end());
    file.insert(file.end(), {1, 0, static_cast<std::uint8_t>(text.size()), static_cast<std::uint8_t>(text.size() >> 8)});
    file.insert(file.end(), text.begin(), text.end());
    file.insert(file.end(), bytes, bytes + size);
    return file;
}

std::vector<std::uint8_t> npy_of_texts(const Tensor& tensor) {
    std::vector<std::u32string> texts;
    std::size_t longest = 1;
    for (const auto& each : tensor.texts) {
        texts.push_back(points_of(each));
        longest = std::max(longest, texts.back().size());
    }
    std::u32string all;
    for (auto& each : texts) {
        each.resize(longest, U'\0');
        all += each;
    }
    return npy_of("<U" + std::to_string(longest), tensor.shape, reinterpret_cast<const std::uint8_t*>(all.data()),
                  all.size() * sizeof(char32_t));
}

Tensor tensor_of_texts(const std::vector<std::uint8_t>& file, const Header& header) {
    const std::size_t length = header.stored.starts_with("<U") ? std::stoull(header.stored.substr(2)) : 0;
    const std::size_t count = elements_of(header.shape);
    if (length == 0 || product(count, length * sizeof(char32_t)) != file.size() - header.size) {
        throw std::runtime_error("the .npy file does not contain the strings that its header declares");
    }
    Tensor tensor{"string", header.shape, {}, {}};
    for (std::size_t each = 0; each < count; ++each) {
        tensor.texts.push_back(text_of(file.data() + header.size + each * length * sizeof(char32_t), length));
    }
    return tensor;
}

}  // namespace

Tensor tensor_of_npy(const std::vector<std::uint8_t>& file, const std::string& element_type) {
    const auto& type = element_type_of(element_type);
    const auto header = header_of(file);
    if (type.name == "string") {
        return tensor_of_texts(file, header);
    }
    if (header.stored != type.stored) {
        throw std::runtime_error("the .npy file contains " + header.stored + ", but " + type.name +
                                 " must be stored as " + type.stored);
    }
    if (product(elements_of(header.shape), type.bytes) != file.size() - header.size) {
        throw std::runtime_error("the .npy file does not contain as many elements as its header declares");
    }
    return {element_type, header.shape, {file.begin() + header.size, file.end()}, {}};
}

std::vector<std::uint8_t> npy_of(const Tensor& tensor) {
    const auto& type = element_type_of(tensor.element_type);
    if (type.name == "string") {
        return npy_of_texts(tensor);
    }
    return npy_of(type.stored, tensor.shape, tensor.bytes.data(), tensor.bytes.size());
}

}  // namespace opconform
