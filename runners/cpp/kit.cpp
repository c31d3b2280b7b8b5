#include "kit.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "backend.hpp"
#include "case.hpp"
#include "comparison.hpp"
#include "kit_settings.hpp"
#include "npz.hpp"

namespace opconform {
namespace {

using Json = nlohmann::json;
using Kind = Verdict::Kind;
namespace fs = std::filesystem;

const std::string kNeighbourCheck = "neighbour-check/";
/// What a graph under test has in place of an operation.
const std::string kGraph = "Graph-1";

std::string environment(const char* name) {
    const auto* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// The folder of the exported suite, which may have been copied to another machine.
fs::path data() {
    const auto folder = environment("OPCONFORM_DATA");
    return folder.empty() ? fs::path(kData) : fs::path(folder);
}

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw std::runtime_error(path.string() + " cannot be read");
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The content of a file of the exported suite.
std::string checked(const fs::path& path, const std::string& digest) {
    auto content = content_of(path);
    if (sha256_of(content) != digest) {
        throw std::runtime_error(path.string() + " was changed after the export; export the suite again");
    }
    return content;
}

const std::string& manifest() {
    static const std::string content = checked(data() / "manifest.jsonl", kManifest);
    return content;
}

/// `suite.json`: the requirements, and the declarations of the operations.
const Json& header() {
    static const Json document = Json::parse(checked(data() / "suite.json", kHeader));
    return document;
}

/// The manifest's line of a case; null if there is none.
Json entry_of(const std::string& id) {
    const auto at = manifest().find("\"id\":\"" + id + '"');
    if (at == std::string::npos) {
        return {};
    }
    const auto start = manifest().rfind('\n', at) + 1;  // or 0
    return Json::parse(manifest().substr(start, manifest().find('\n', at) - start));
}

/// A case, or the neighbour check of one, as it is executed.
struct Loaded {
    Json document;
    Case asked;
    fs::path model;
    std::vector<Inputs> feeds;
    std::vector<std::vector<Expected>> expected;  ///< Per feed; none for an invalid case.
    bool rejects;
};

std::string feed_file(const std::string& name, int feed) {
    return name + (feed == 0 ? "" : '.' + std::to_string(feed)) + ".npz";
}

bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_reading(const std::string& op, const std::string& requirement) {
    if (requirement.find('@') != std::string::npos) { // of a node of a graph under test
        return true;
    }
    const auto levels = header().at("requirements").value(op, Json::object());
    return levels.contains(requirement) && levels.at(requirement).at("level") == "interpretation";
}

constexpr const char *kAlso = ".also", *kOtherwise = ".otherwise", *kOtherwiseLower = ".otherwise.lower",
               *kOtherwiseUpper = ".otherwise.upper";

/// The suffixes of the arrays with other values of an output.
std::vector<std::string> other_values(const Json& output) {
    std::vector<std::string> suffixes;
    if (output.value("also", 0) > 0) {
        suffixes.push_back(kAlso);
    }
    if (!output.value("otherwise", Json::array()).empty()) {
        suffixes.push_back(kOtherwise);
        if (output.value("comparison", "bits") == "bounds") {
            suffixes.insert(suffixes.end(), {kOtherwiseLower, kOtherwiseUpper});
        }
    }
    return suffixes;
}

std::vector<Expected> expected_of(const fs::path& path, const std::string& op, const Json& declared) {
    std::vector<Input> arrays;
    for (const auto& output : declared) {
        const std::string name = output.at("name"), comparison = output.value("comparison", "bits");
        std::vector<std::string> names{name};
        if (output.value("flushed", false)) {
            names.push_back(name + ".flushed");  // for backends that declare to flush denormal numbers, which none does here
        }
        for (const auto& held : names) {
            for (const std::string suffix : {"", ".lower", ".upper"}) {
                if (suffix.empty() || comparison == "bounds") {
                    arrays.push_back({held + suffix, output.at("element_type"), "", "", {}, ""});
                }
            }
        }
        for (const std::string suffix : {".reduced.lower", ".reduced.upper"}) {
            if (output.value("reduced", false)) {
                arrays.push_back({name + suffix, output.at("element_type"), "", "", {}, ""});
            }
        }
        for (const auto& suffix : other_values(output)) {
            arrays.push_back({name + suffix, output.at("element_type"), "", "", {}, ""});
        }
    }
    const auto tensors = read_npz(path, arrays);
    std::vector<Expected> expected;
    for (const auto& output : declared) {
        const std::string name = output.at("name"), comparison = output.value("comparison", "bits");
        const auto bound = [&](const char* suffix) { return comparison == "bounds" ? tensors.at(name + suffix) : Tensor{}; };
        std::optional<std::pair<Tensor, Tensor>> reduced;
        if (output.value("reduced", false)) {
            reduced.emplace(tensors.at(name + ".reduced.lower"), tensors.at(name + ".reduced.upper"));
        }
        const auto others = other_values(output);
        const auto values = [&](const char* suffix) { return has(others, suffix) ? tensors.at(name + suffix) : Tensor{}; };
        std::vector<bool> is_reading_of;
        for (const auto& requirement : output.value("otherwise", std::vector<std::string>{})) {
            is_reading_of.push_back(is_reading(op, requirement));
        }
        expected.push_back({tensors.at(name), comparison, bound(".lower"), bound(".upper"), reduced, values(kAlso),
                            values(kOtherwise), values(kOtherwiseLower), values(kOtherwiseUpper), is_reading_of});
    }
    return expected;
}

/// The case of a line, or what is in a folder inside the folder of the case.
Loaded loaded(const Json& entry, const std::string& inside = "") {
    const auto folder = data() / entry.at("id").get<std::string>();
    for (const auto& [name, digest] : entry.at("files").items()) {
        checked(folder / name, digest);
    }
    Loaded result{Json::parse(content_of(folder / inside / "case.json")), {}, folder / inside / kModel, {}, {}, false};
    auto& document = result.document;
    document["declarations"] = header().at("declarations");
    result.asked = case_of(document);
    result.rejects = document.at("expect").contains("reject");
    for (int feed = 0; feed < document.at("feeds"); ++feed) {
        result.feeds.push_back(read_npz(folder / inside / feed_file("inputs", feed), result.asked.inputs));
        if (!result.rejects) {
            const auto path = folder / inside / feed_file("expected", feed);
            result.expected.push_back(expected_of(path, result.asked.op, document.at("expect").at("accept")));
        }
    }
    return result;
}

/// The verdict on one execution, and what it depends on.
struct Own {
    Verdict verdict;
    std::string reason;                 ///< Of a failure: accepted-invalid, rejected-valid, or that of a mismatch.
    std::optional<std::size_t> output;  ///< The first output that is wrong.
    std::string digest;                 ///< Of wrong outputs.
    bool is_of_elements = false;        ///< Whether other readings decide all elements that are wrong.
};

Own own_of(Backend& backend, const Loaded& loaded) {
    const auto model = backend.describe().dialects.empty() ? fs::path() : loaded.model;
    try {
        const auto outputs = backend.run(loaded.asked, model, loaded.feeds).feeds;
        if (loaded.rejects) {
            const std::string requirement = loaded.document.at("expect").at("reject");
            return {{Kind::fail, "accepted, although it violates " + requirement}, "accepted-invalid", {}, ""};
        }
        for (std::size_t feed = 0; feed < loaded.expected.size(); ++feed) {
            if (const auto found = mismatch_of(loaded.expected[feed], outputs.at(feed))) {
                const auto digest = digest_of(outputs, loaded.expected[feed]);
                const auto is_of_elements = are_of_readings(loaded.expected, outputs);
                const bool misread = is_misread(loaded.expected[feed], outputs.at(feed));
                return {{Kind::fail, found->sentence}, misread ? "value" : found->reason, found->output, digest, is_of_elements};
            }
        }
        return {{Kind::pass, ""}, "", {}, ""};
    } catch (const Rejected& answer) {
        if (loaded.rejects) {
            return {{Kind::pass, ""}, "", {}, ""};
        }
        const auto why = "rejected at " + answer.stage + " time, although it is valid: " + answer.what();
        return {{Kind::fail, why}, "rejected-valid", {}, ""};
    } catch (const Unsupported& answer) {
        return {{Kind::skip, std::string("unsupported: ") + answer.what()}, "", {}, ""};
    }
}

/// What a case needs and the backend does not declare; empty if it declares everything.
std::string undeclared(const Loaded& loaded, const Implementation& declared) {
    const bool is_graph = loaded.asked.op == kGraph;
    std::vector<std::string> needed;
    if (!is_graph) {
        needed.push_back(loaded.asked.op);
    }
    if (is_graph || declared.dialects.empty()) {
        for (const auto& node : loaded.asked.graph.at("nodes")) {
            needed.push_back(node.at("op"));
        }
    }
    for (const auto& op : needed) {
        if (!(declared.operations.empty() && !declared.dialects.empty()) && !has(declared.operations, op)) {
            return op;
        }
    }
    for (const auto& input : loaded.document.at("inputs")) {
        if (input.at("role") == "data" && !has(declared.element_types, input.at("element_type"))) {
            return input.at("element_type");
        }
        if (input.at("role") == "setting" && !has(declared.bindings, input.at("binding"))) {
            return input.at("name").get<std::string>() + " as a " + input.at("binding").get<std::string>();
        }
        if (!input.value("dynamic", Json()).is_null() && !declared.dynamic) {
            return "dynamic shapes";
        }
    }
    for (const auto& output : loaded.document.at("expect").value("accept", Json::array())) {
        if (!has(declared.element_types, output.at("element_type"))) {
            return output.at("element_type");
        }
    }
    return "";
}

/// Whether a failure is only a deviation from an interpretation.
bool is_interpretation(const Json& entry, const Loaded& loaded, const Own& own) {
    if (loaded.rejects) {
        return is_reading(loaded.asked.op, loaded.document.at("expect").at("reject"));
    }
    const auto readings = entry.value("readings", Json::object());
    if (own.reason == "rejected-valid") {
        return !readings.value("reject", Json::array()).empty();
    }
    const bool is_whole = !own.digest.empty() && readings.value("outputs", Json::object()).contains(own.digest);
    const bool is_of_reading = is_whole || own.is_of_elements;
    if (own.reason != "nan-payload" && (own.reason != "rounding" || is_of_reading)) {
        return is_of_reading;
    }
    const auto stages = header().at("establishes").value(loaded.asked.op, Json::object());
    const std::vector<std::string> about = stages.value(own.reason, std::vector<std::string>{});
    const std::vector<std::string> listed = entry.at("requirements");
    std::vector<std::string> broken = about;
    if (own.reason == "nan-payload") {
        broken.clear();
        std::copy_if(listed.begin(), listed.end(), std::back_inserter(broken),
                     [&](const std::string& name) { return has(about, name); });
    }
    const auto excused = [&](const std::string& name) { return is_reading(loaded.asked.op, name); };
    return !broken.empty() && std::all_of(broken.begin(), broken.end(), excused);
}

/// Whether a neighbour of the operation under test may be at fault (docs/verdicts.md#neighbour-checks).
bool may_be_neighbours(const Loaded& loaded, const Own& own) {
    std::set<std::string> tested, taken, computed;
    for (const auto& node : loaded.asked.graph.at("nodes")) {
        const bool is_tested = node.value("under_test", false);
        for (const auto& name : node.at("outputs")) {
            (is_tested ? tested : computed).insert(name.get<std::string>());
        }
        for (const auto& name : node.at("inputs")) {
            if (is_tested && !name.is_null()) {
                taken.insert(name.get<std::string>());
            }
        }
    }
    const auto is_computed = [&](const std::string& name) { return computed.contains(name); };
    if (std::any_of(taken.begin(), taken.end(), is_computed) || !own.output) {
        return true;
    }
    return !tested.contains(loaded.asked.graph.at("outputs").at(*own.output).get<std::string>());
}

Verdict of_failure(Backend& backend, const Json& entry, const Loaded& loaded, const Own& own) {
    const auto gap = undeclared(loaded, backend.describe());
    if (!gap.empty()) {
        return {Kind::skip, "unsupported: the backend does not declare " + gap + "; " + own.verdict.why};
    }
    const bool has_check = loaded.asked.op != kGraph && entry.at("files").contains(kNeighbourCheck + kModel);
    if (has_check && may_be_neighbours(loaded, own)) {  // a graph fails, whatever its nodes do alone
        const auto check = own_of(backend, opconform::loaded(entry, kNeighbourCheck));
        if (check.verdict.kind == Kind::fail) {
            return {Kind::skip, "inconclusive: " + own.verdict.why + "; the neighbour check, the same graph without " +
                                    loaded.asked.op + ", fails too: " + check.verdict.why};
        }
    }
    const auto strict = environment("OPCONFORM_STRICT");
    if ((strict.empty() || strict == "0") && is_interpretation(entry, loaded, own)) {
        return {Kind::skip, "interpretation: " + own.verdict.why};
    }
    return own.verdict;
}

Verdict judged(Backend& backend, const std::string& id) {
    const auto entry = entry_of(id);
    if (entry.is_null()) {
        throw std::runtime_error("the exported suite has no case " + id);
    }
    const auto asked = loaded(entry);
    const auto own = own_of(backend, asked);
    if (own.verdict.kind == Kind::fail) {
        return of_failure(backend, entry, asked, own);
    }
    if (own.verdict.kind == Kind::skip || !asked.rejects) {
        return own.verdict;
    }
    const auto& twin = entry.at("twin");
    const auto valid = twin.is_null() ? Json() : entry_of(twin);
    if (valid.is_null() || own_of(backend, loaded(valid)).verdict.kind != Kind::pass) {
        return {Kind::skip, "inconclusive: rejected, but its valid twin does not pass or was not exported"};
    }
    return own.verdict;
}

std::string file_name(std::string id) {
    std::replace(id.begin(), id.end(), '/', '.');
    return id;
}

void check_data() {
    fs::remove_all(kVerdicts);
    fs::create_directories(kVerdicts);
    for (const auto& id : exported_cases()) {
        const auto entry = entry_of(id);
        if (entry.is_null()) {
            throw std::runtime_error("the exported suite has no case " + id);
        }
        for (const auto& [name, digest] : entry.at("files").items()) {
            checked(data() / id / name, digest);
        }
    }
    header();
    std::cout << kCases << " cases; suite digest " << kManifest << '\n';
}

int summary() {
    std::map<std::string, std::size_t> counts;
    std::size_t tested = 0;
    for (const auto& file : fs::directory_iterator(kVerdicts)) {
        const auto line = content_of(file);
        const auto word = line.substr(0, line.find_first_of(":\n"));
        counts[word] += 1;
        tested += word == "pass" || word == "fail" || word == "no verdict" ? 1 : 0;
    }
    for (const auto& [word, count] : counts) {
        std::cout << word << ": " << count << '\n';
    }
    if (tested == 0) {
        std::cout << "Nothing was tested: no case passed or failed.\n";
        return 1;
    }
    return 0;
}

void record(const std::string& id, const std::string& line) {
    std::error_code ignored;  // without verdicts, the summary fails
    fs::create_directories(kVerdicts, ignored);
    std::ofstream(fs::path(kVerdicts) / file_name(id)) << line << '\n';
}

}  // namespace

std::vector<std::string> exported_cases() {
    std::istringstream lines(content_of(data().parent_path() / "cases.txt"));
    std::vector<std::string> ids{std::istream_iterator<std::string>(lines), {}};
    const std::set<std::string> different(ids.begin(), ids.end());
    if (different.size() != kCases || ids.size() != kCases) {
        throw std::runtime_error("cases.txt does not have the " + std::to_string(kCases) + " cases that were exported");
    }
    return ids;
}

Verdict verdict_of(const std::string& id) {
    record(id, "no verdict");  // which remains if the process ends
    Verdict verdict{Kind::fail, ""};
    try {
        static const auto backend = make_backend(environment("OPCONFORM_DEVICE"));
        verdict = judged(*backend, id);
    } catch (const std::exception& fault) {
        verdict.why = std::string("error: ") + fault.what();
    } catch (...) {
        verdict.why = "error: the backend threw something that is not a std::exception";
    }
    const auto word = verdict.kind == Kind::pass ? "pass" : verdict.kind == Kind::fail ? "fail: " : "";
    record(id, word + verdict.why);
    return verdict;
}

int carried_out(const std::string& option) {
    try {
        if (option == "--summary") {
            return summary();
        }
        check_data();
        return 0;
    } catch (const std::exception& fault) {
        std::cerr << fault.what() << '\n';
        return 1;
    }
}

}  // namespace opconform
