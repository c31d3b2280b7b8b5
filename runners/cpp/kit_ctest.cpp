/// The tests of an exported suite without a framework: the argument is the id of a case.

#include <cstdlib>
#include <iostream>
#include <string>

#include "kit.hpp"

namespace {

constexpr int kSkipped = 77;  // as in CMakeLists.txt

int exit_code(const std::string& id) {
    const auto verdict = opconform::verdict_of(id);
    std::cout << id << '\n' << verdict.why << '\n';
    switch (verdict.kind) {
        case opconform::Verdict::Kind::pass:
            return 0;
        case opconform::Verdict::Kind::skip:
            return kSkipped;
        default:
            return 1;
    }
}

}  // namespace

int main(int count, char** arguments) {
    const std::string argument = count == 2 ? arguments[1] : "";
    if (argument.empty()) {
        std::cerr << "usage: " << arguments[0] << " CASE|--check-data|--summary\n";
        return 2;
    }
    const auto code = argument.starts_with("--") ? opconform::carried_out(argument) : exit_code(argument);
    std::cout.flush();
    std::_Exit(code);  // a backend's clean-up is not under test, and may hang
}
