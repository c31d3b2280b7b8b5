#pragma once

#include <cstddef>
#include <string>

namespace opconform {

/// One element type: its width, and how `.npy` stores it.
struct ElementType {
    std::string name;      ///< As in case.json: f32, i4, string.
    std::size_t bits;      ///< The width of an element; 0 for strings.
    std::string stored;    ///< The dtype in `.npy`: its own, or unsigned integers; `<U` and a length for strings.
    std::size_t bytes;     ///< The bytes of an element in `.npy`; 0 for strings.
};

/// The element type of this name; throws std::invalid_argument if there is none.
const ElementType& element_type_of(const std::string& name);

}  // namespace opconform
