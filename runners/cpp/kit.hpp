/// The tests of an exported suite, whatever runs them: their cases, and the verdict on each (docs/export.md).
#pragma once

#include <string>
#include <vector>

namespace opconform {

/// The verdict on a case: `skip` if it is unsupported, inconclusive, or only deviates from an interpretation.
struct Verdict {
    enum class Kind { pass, fail, skip };

    Kind kind;
    std::string why;
};

/// The ids of the cases; throws std::runtime_error if there are fewer than were exported.
std::vector<std::string> exported_cases();

/// Executes a case, and records its verdict for the summary.
Verdict verdict_of(const std::string& id);

/// Carries out an option of the tests' program, `--check-data` or `--summary`; the exit code.
///
/// `--check-data` compares every file with the SHA-256 that was exported, and forgets earlier verdicts. `--summary`
/// counts the verdicts, and fails if every case was skipped.
int carried_out(const std::string& option);

}  // namespace opconform
