#include "element_types.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace opconform {

const ElementType& element_type_of(const std::string& name) {
    static const std::array<ElementType, 25> table{{
        {"boolean", 8, "|b1", 1, false}, {"bf16", 16, "<u2", 2, false},   {"f16", 16, "<f2", 2, false},
        {"f32", 32, "<f4", 4, false},    {"f64", 64, "<f8", 8, false},    {"f4e2m1", 4, "|u1", 1, false},
        {"f8e4m3", 8, "|u1", 1, false},  {"f8e5m2", 8, "|u1", 1, false},  {"f8e8m0", 8, "|u1", 1, false},
        {"i4", 4, "|u1", 1, true},       {"i8", 8, "|i1", 1, true},       {"i16", 16, "<i2", 2, true},
        {"i32", 32, "<i4", 4, true},     {"i64", 64, "<i8", 8, true},     {"u1", 1, "|u1", 1, true},
        {"u2", 2, "|u1", 1, true},       {"u3", 3, "|u1", 1, true},       {"u4", 4, "|u1", 1, true},
        {"u6", 6, "|u1", 1, true},       {"u8", 8, "|u1", 1, true},       {"u16", 16, "<u2", 2, true},
        {"u32", 32, "<u4", 4, true},     {"u64", 64, "<u8", 8, true},     {"nf4", 4, "|u1", 1, false},
        {"string", 0, "<U", 0, false},
    }};
    const auto found = std::find_if(table.begin(), table.end(), [&](const auto& row) { return row.name == name; });
    if (found == table.end()) {
        throw std::invalid_argument("'" + name + "' is not an element type");
    }
    return *found;
}

}  // namespace opconform
