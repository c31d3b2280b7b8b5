// Reads the arrays of a file, each as an input of an element type: read_npz FILE [NAME TYPE]...
#include <iostream>

#include "npz.hpp"

int main(int count, char** words) {
    std::vector<opconform::Input> inputs;
    for (int word = 2; word + 1 < count; word += 2) {
        inputs.push_back({words[word], words[word + 1], "data", "parameter", {}, words[word]});
    }
    try {
        for (const auto& [name, tensor] : opconform::read_npz(words[1], inputs)) {
            std::cout << name << ' ' << tensor.element_type << ':';
            for (const auto size : tensor.shape) {
                std::cout << ' ' << size;
            }
            std::cout << ": " << tensor.bytes.size() + tensor.texts.size() << '\n';
        }
    } catch (const std::exception& fault) {
        std::cout << fault.what() << '\n';
        return 1;
    }
}
