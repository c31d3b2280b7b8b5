"""The rules of the protocol, one row each: its sentence in `docs/protocol.md`, and the function that checks it."""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from opconform_runners.tools.protocol_check import case_checks as cases
from opconform_runners.tools.protocol_check import process_checks as processes
from opconform_runners.tools.protocol_check.desk import Desk


class Rule(NamedTuple):
    """A rule: its sentence in `docs/protocol.md`, and what plays it; None where the other rules show it."""

    sentence: str
    play: Callable[[Desk], Awaitable[None]] | None = None


#: The rules by their ids, in the order of `docs/protocol.md`, which is also the order in which they are played.
RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "start.answer": Rule(
            "`start` is answered by one line that has the keys of its table, each of the right type, and no others.",
            processes.start_answer,
        ),
        "start.names": Rule(
            "The dialects, element types, operations and requirements that the answer to `start` names exist.",
            processes.start_names,
        ),
        "output.before-start": Rule(
            "Nothing is written to standard output before `start` is asked, and nothing before its answer.",
            processes.silence,
        ),
        "output.between": Rule(
            "After that answer nothing is written but one reply a request, whatever the backend prints."
        ),
        "output.length": Rule("No reply is longer than 1,048,576 bytes."),
        "run.plain": Rule(
            "A plain case, of which the harness declares all that it needs, is answered `ok`.", cases.run_plain
        ),
        "run.answer": Rule(
            "`run` is answered by one line that has the keys of its status, each of the right type, and no others.",
            cases.run_answer,
        ),
        "run.seq": Rule(
            "A reply has the `seq` of its request, which may be any integer from 0 to 2^53 - 1.", cases.run_seq
        ),
        "run.order": Rule("Requests that are sent ahead are answered in their order.", cases.run_order),
        "run.long-line": Rule(
            "A request is read that takes 1,048,576 bytes, the end of its line included.", cases.run_long_line
        ),
        "ok.outputs": Rule(
            "`ok` is said when every file of outputs is whole: an .npz of output_0, output_1, … without pickles.",
            cases.ok_outputs,
        ),
        "ok.dtype": Rule("Outputs are stored in the dtype of their element type.", cases.ok_dtype),
        "ok.values": Rule("The outputs of a plain case are right in number, shape and every bit.", cases.ok_values),
        "ok.two-feeds": Rule(
            "Each feed is executed, in order, and its outputs are written to the file that it names.",
            cases.ok_two_feeds,
        ),
        "ok.element-types": Rule(
            "`element_types`, where it is said, has a list a feed and the name of an element type an output.",
            cases.ok_element_types,
        ),
        "ok.seconds": Rule(
            "`seconds`, where it is said, is at least 0 and at most the time from the request to the reply.",
            cases.ok_seconds,
        ),
        "rejected.status": Rule(
            "A case that the backend refuses is answered `rejected`, never `error`, and the harness goes on.",
            cases.rejected_status,
        ),
        "rejected.why": Rule("`rejected` has a `stage`, `build` or `run`, and a `message`.", cases.rejected_why),
        "unsupported.undeclared": Rule(
            "A case that needs what is not declared is answered `unsupported` or `rejected`, and not `error`.",
            cases.undeclared,
        ),
        "error.files": Rule(
            "A request whose `dir` or `inputs` is not there is answered `error`, and the next one is served.",
            cases.missing_files,
        ),
        "paths.names": Rule(
            "Paths may hold spaces, quotes and letters beyond ASCII, which stand in the request as UTF-8.",
            cases.odd_paths,
        ),
        "paths.outside": Rule(
            "`outputs` may lie outside of `dir`, in any folder that is there.", cases.outputs_outside
        ),
        "dialects.each": Rule(
            "A case is executed in each declared dialect, and not in the first alone.", cases.each_dialect
        ),
        "graphs.each": Rule("A harness that declares `graphs` executes a graph of each kind.", cases.each_graph),
        "end.stop": Rule("It ends within two seconds of `stop`, also when it has run nothing.", processes.stop),
        "end.input": Rule(
            "It ends within two seconds of the end of standard input, also when it has run nothing.",
            processes.end_of_input,
        ),
        "end.children": Rule("No child process is left behind; one that is, is a note and no breach."),
    }
)
