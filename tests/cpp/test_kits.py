"""Exported kits: the verdicts of GoogleTest and CTest are those of a run, and a kit that tests nothing is not green."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.cpp.builds import built

pytestmark = [pytest.mark.ci_only, pytest.mark.timeout(900)]  # builds

#: A backend that implements nothing, or throws what the environment says.
BACKEND = """\
#include <cstdlib>
#include "backend.hpp"
namespace opconform {
class Nothing : public Backend {
    Implementation describe() const override {
        return {"nothing", "1", "CPU", "", "", {"openvino"}, {"f32"}, {}, true, {"constant", "parameter"}};
    }
    PlacedOutputs run(const Case&, const std::filesystem::path&, const std::vector<Inputs>& feeds) override {
        const std::string answer = std::getenv("ANSWER") == nullptr ? "" : std::getenv("ANSWER");
        if (answer == "rejected") throw Rejected("build", "no");
        if (answer == "abort") std::abort();
        if (answer == "thrown") throw 1;
        if (answer == "empty") return {std::vector<Outputs>(feeds.size()), {}};
        throw Unsupported("nothing is implemented");
    }
};
std::unique_ptr<Backend> make_backend(const std::string&) { return std::make_unique<Nothing>(); }
}
"""
#: A line of CTest's results, and the answers that it stands for.
RESULT = re.compile(r"^ *\d+/\d+ Test +#\d+: (\S+) \.+ *(.*?) +[\d.]+ sec", re.MULTILINE)


def ctest(build: Path, *options: str, **environment: str) -> tuple[int, dict[str, str], str]:
    """The exit code of CTest, the results by the ids of the cases, and the output."""
    command = ["ctest", "--test-dir", str(build), "--output-on-failure", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    results = {}
    for name, said in RESULT.findall(done.stdout):
        status = re.sub(r"\W+Exception: ", "", said).strip("* ")
        results[name.rpartition("Case/")[2]] = status if status in ("Passed", "Skipped") else "Failed"
    return done.returncode, results, done.stdout


def name_of(case: str) -> str:
    """The name of GoogleTest for a case."""
    return re.sub(r"\W", "_", case)


def expected(opconform: Run, suite: Path, out: Path) -> dict[str, str]:
    """The results that a kit must have, by the ids of cases, from a run of the Python backend."""
    opconform("run", suite, "--backend", "openvino", "--out", out, code=1)
    levels = json.loads((suite / "suite.json").read_text())["requirements"]
    results = {}
    for line in (out / "results.jsonl").read_text().splitlines()[1:-1]:
        result = json.loads(line)
        known = levels[result["id"].partition("/")[0]]
        read = result.get("broken") and all(known[x]["level"] == "interpretation" for x in result["broken"])
        verdicts = {"pass": "Passed", "fail": "Skipped" if read else "Failed"}
        unsteady = result.get("reason") == "nondeterministic"  # a memory fault, with another result in each execution
        results[result["id"]] = "" if unsteady else verdicts.get(result["verdict"], "Skipped")
    return results


def test_googletest_has_the_verdicts_of_a_run(opconform: Run, cpp: Path, tmp_path: Path) -> None:
    """Each case is one test, and what fails a run fails there, also if it ends the process."""
    wanted = expected(opconform, cpp / "suite", tmp_path)
    code, results, said = ctest(cpp / "build")
    data, summary = results.pop("opconform.data"), results.pop("opconform.summary")
    counts = {status: [*results.values()].count(status) for status in ("Passed", "Skipped", "Failed")}

    assert results.keys() == {name_of(case) for case in wanted}
    assert {case: x for case, x in wanted.items() if x and results[name_of(case)] != x} == {}
    assert (code, data, summary) == (8, "Passed", "Passed")
    assert min(counts.values()) > 10
    assert f"tests failed out of {len(wanted) + 2}" in said
    strict = ctest(cpp / "build", "-R", "Split_1_element_types", OPCONFORM_STRICT="1")[1]
    readings = {case for case, status in results.items() if status == "Skipped" and strict.get(case) == "Failed"}
    assert {case for case in wanted if name_of(case) in readings and wanted[case] == "Skipped"}


def test_a_kit_that_lost_something_fails(cpp: Path, tmp_path: Path) -> None:
    """A case fewer, a changed file, another digest: the first test and the tests of the cases notice it."""
    program = cpp / "build" / "opconform-tests"
    case = (cpp / "kit" / "cases.txt").read_text().splitlines()[0]

    def checked(*words: str) -> tuple[int, str]:
        environment = {**os.environ, "OPCONFORM_DATA": str(tmp_path / "data")}
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False, env=environment)
        return done.returncode, done.stdout + done.stderr

    def damaged(path: str, content: bytes | None) -> str:
        before = (tmp_path / path).read_bytes()
        (tmp_path / path).unlink()
        if content is not None:
            (tmp_path / path).write_bytes(content)
        code, said = checked("--gtest_filter=*" + name_of(case))
        assert code != 0, path
        (tmp_path / path).write_bytes(before)
        return said

    shutil.copytree(cpp / "kit" / "data", tmp_path / "data")
    shutil.copy(cpp / "kit" / "cases.txt", tmp_path)
    lines = (tmp_path / "data" / "manifest.jsonl").read_bytes().splitlines(keepends=True)
    ids = (tmp_path / "cases.txt").read_bytes().splitlines(keepends=True)

    assert checked("--gtest_filter=*" + name_of(case))[0] == 0
    assert "manifest.jsonl was changed after the export" in damaged("data/manifest.jsonl", b"".join(lines[:-1]))
    assert "suite.json was changed after the export" in damaged("data/suite.json", b"{}")
    assert "inputs.npz was changed after the export" in damaged(f"data/{case}/inputs.npz", b"PK")
    assert "cannot be read" in damaged(f"data/{case}/openvino/model.xml", None)
    assert "cases.txt does not have the" in damaged("cases.txt", b"".join(ids[:-1]))
    assert "cases.txt does not have the" in damaged("cases.txt", b"".join([*ids[:-1], ids[0]]))


def test_ctest_alone_runs_any_backend(opconform: Run, small_suite: Path, tmp_path: Path) -> None:
    """In a folder with a strange name. A kit whose cases are all skipped fails, and a crash costs one test."""
    kit, source = tmp_path / "a kit, 'é'", tmp_path / "backend.cpp"
    opconform("export", small_suite, "--as", "ctest", "--out", kit)
    source.write_text(BACKEND)
    build = built(kit, tmp_path / "build", f"-DOPCONFORM_BACKEND={source}", "-DCMAKE_BUILD_TYPE=Debug")
    cases = set((kit / "cases.txt").read_text().split())

    def results(**environment: str) -> tuple[dict[str, str], str, str]:
        _, found, said = ctest(build, "--verbose", **environment)
        assert found.keys() == cases | {"opconform.data", "opconform.summary"}
        assert found["opconform.data"] == "Passed"
        return {x: found[x] for x in cases}, found["opconform.summary"], said

    invalid = {x for x in cases if "/rejected/" in x and "unsupported" not in x}
    skipped, summary, said = results()
    assert (set(skipped.values()), summary) == ({"Skipped"}, "Failed")
    assert f"unsupported: {len(cases)}" in said
    assert "Nothing was tested: no case passed or failed." in said

    rejected, summary, said = results(ANSWER="rejected")
    assert sorted(rejected.values()).count("Skipped") == 1
    assert summary == "Passed"
    assert "inconclusive: 1" in said
    assert {x for x in cases if rejected[x] == "Skipped"} < invalid

    for answer, word in {"abort": "no verdict", "thrown": "fail", "empty": "fail"}.items():
        found, summary, said = results(ANSWER=answer)
        assert (set(found.values()), summary) == ({"Failed"}, "Passed")
        assert f"{word}: {len(cases)}" in said
