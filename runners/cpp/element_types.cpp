#include "element_types.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace opconform {

const ElementType& element_type_of(const std::string& name) {
    static const std::array<ElementType, 25> table{{
        {"boolean", 8, "|b1", 1}, {"bf16", 16, "<u2", 2},   {"f16", 16, "<f2", 2},    {"f32", 32, "<f4", 4},
        {"f64", 64, "<f8", 8},    {"f4e2m1", 4, "|u1", 1},  {"f8e4m3", 8, "|u1", 1},  {"f8e5m2", 8, "|u1", 1},
        {"f8e8m0", 8, "|u1", 1},  {"i4", 4, "|u1", 1},      {"i8", 8, "|i1", 1},      {"i16", 16, "<i2", 2},
        {"i32", 32, "<i4", 4},    {"i64", 64, "<i8", 8},    {"u1", 1, "|u1", 1},      {"u2", 2, "|u1", 1},
        {"u3", 3, "|u1", 1},      {"u4", 4, "|u1", 1},      {"u6", 6, "|u1", 1},      {"u8", 8, "|u1", 1},
        {"u16", 16, "<u2", 2},    {"u32", 32, "<u4", 4},    {"u64", 64, "<u8", 8},    {"nf4", 4, "|u1", 1},
        {"string", 0, "<U", 0},
    }};
    const auto found = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
    if (found == table.end()) {
        throw std::invalid_argument("'" + name + "' is not an element type");
    }
    return *found;
}

}  // namespace opconform
