/// The tests of an exported suite with GoogleTest: one parameterised test per case.

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "kit.hpp"

namespace {

class Conformance : public testing::TestWithParam<std::string> {};

TEST_P(Conformance, Case) {
    const auto verdict = opconform::verdict_of(GetParam());
    if (verdict.kind == opconform::Verdict::Kind::skip) {
        GTEST_SKIP() << verdict.why;
    }
    EXPECT_EQ(verdict.kind, opconform::Verdict::Kind::pass) << GetParam() << ": " << verdict.why;
}

/// The name of a test: the case's id with letters, digits and underscores only.
std::string test_name(const testing::TestParamInfo<std::string>& info) {
    auto name = info.param;
    std::replace_if(name.begin(), name.end(), [](unsigned char letter) { return !std::isalnum(letter); }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(opconform, Conformance, testing::ValuesIn(opconform::exported_cases()), test_name);

/// Runs the tests. A single one may be skipped, since `opconform.summary` counts those that CTest runs.
int exit_code(bool is_help) {
    const auto failed = RUN_ALL_TESTS();
    const auto& tests = *testing::UnitTest::GetInstance();
    const auto tested = tests.successful_test_count() + tests.failed_test_count();
    if (!is_help && !testing::GTEST_FLAG(list_tests) && tests.test_to_run_count() != 1 && tested == 0) {
        std::cerr << "Nothing was tested: no case passed or failed.\n";
        return 1;
    }
    return failed;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string option = count == 2 ? arguments[1] : "";
    if (option == "--check-data" || option == "--summary") {
        return opconform::carried_out(option);
    }
    try {
        testing::InitGoogleTest(&count, arguments);
    } catch (const std::exception& fault) {
        std::cerr << fault.what() << '\n';
        return 2;
    }
    const auto code = exit_code(option == "--help" || option == "-h");
    std::cout.flush();
    std::fflush(stdout);
    std::_Exit(code);  // a backend's clean-up is not under test, and may hang
}
