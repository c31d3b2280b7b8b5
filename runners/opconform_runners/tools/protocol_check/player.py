"""Playing: cases of a suite put to a harness one by one, with a note of everything that it does wrong."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path
from types import MappingProxyType

from opconform.suite.case import Accept, Case
from opconform.suite.manifest import Entry, inputs_name
from opconform.suite.reader import Suite
from opconform.tensors.tensor import Array
from opconform_runners.backends.backend import undeclared_operation
from opconform_runners.execution.outputs import OversizedOutputs, UnreadableOutputs, read_outputs
from opconform_runners.harness.command import Command
from opconform_runners.harness.process import started
from opconform_runners.harness.protocol import LINE_LIMIT, Feed, Said, reply_faults, run_line
from opconform_runners.tools.protocol_check.conversation import Answer, Conversation, Greeting, said_in, unasked

#: How much later than the reply a harness may say that it ended, by its own clock.
_CLOCKS = 0.01

#: The most bytes that the outputs of a case that is played here may take.
_OUTPUT_LIMIT = 1 << 26

#: The rule that a key of a reply belongs to; all the other keys belong to `run.answer`.
_RULES: Mapping[str, str] = MappingProxyType(
    {
        "seconds": "ok.seconds",
        "element_types": "ok.element-types",
        "stage": "rejected.why",
        "requirement": "rejected.why",
        "message": "rejected.why",
    }
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Breach:
    """One time that a harness broke a rule: what it was told, what it said (nothing at all is None), what is wrong."""

    request: bytes | None
    reply: bytes | None
    sentence: str


class NotApplicable(Exception):  # noqa: N818 - an answer, and no error
    """A rule says nothing of this harness; the message says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Names:
    """The names that a harness may use."""

    dialects: tuple[str, ...]
    operations: tuple[str, ...]
    requirements: frozenset[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Played:
    """A case that was played, its answer, and where its outputs are to be."""

    entry: Entry
    case: Case
    answer: Answer
    folder: Path
    outputs: tuple[Path, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A request whose files lie ready."""

    entry: Entry
    case: Case
    seq: int
    folder: Path
    outputs: tuple[Path, ...]
    line: bytes

    def answered(self, answer: Answer) -> Played:
        """The case with its answer."""
        return Played(entry=self.entry, case=self.case, answer=answer, folder=self.folder, outputs=self.outputs)


@dataclass
class Desk:
    """Where a harness is questioned, and everything that it does wrong is noted down.

    Attributes:
        suite: Where the cases come from.
        command: How the harness is started.
        greeting: How it answered `start` the first time.
        names: What names there are.
        timeout: How long an answer may take, in seconds.
        scratch: A folder for cases and outputs.
        breaches: What was broken so far, by rule.
        notes: What is worth knowing beside, by rule.
        answers: Every answer to `run` so far.
    """

    suite: Suite
    command: Command
    greeting: Greeting
    names: Names
    timeout: float
    scratch: Path
    breaches: dict[str, list[Breach]] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)
    plain: tuple[Entry, Case] | None = None
    _conversation: Conversation | None = None
    _seq: int = 0

    @cached_property
    def said(self) -> Said:
        """What the harness says of itself, without what is wrong in it."""
        return said_in(self.greeting, self.names.operations)

    @cached_property
    def cases(self) -> Sequence[tuple[Entry, Case]]:
        """The cases that the harness can be given, the smallest first."""
        both = ((each, self.suite.case(each)) for each in self.suite.entries)
        given = [(entry, case) for entry, case in both if self._is_given(entry, case)]
        return sorted(given, key=lambda each: (sum(prod(one.shape) for one in each[1].inputs), each[0].id))

    def accepted(
        self, *, context: str = "bare", feeds: int = 1, element_type: str | None = None
    ) -> Iterator[tuple[Entry, Case]]:
        """The cases to be accepted that the harness says it can do, the smallest first.

        Args:
            context: The graph around the operation.
            feeds: The number of feeds.
            element_type: The element type of data; any by default, of cases then that name no interpretation.
        """
        for entry, case in self.cases:
            wanted = self.is_normative(case) if element_type is None else _data_type(case) == element_type
            alike = wanted and (case.context, case.feeds) == (context, feeds)
            if alike and isinstance(case.expect, Accept) and self.is_declared(case):
                yield entry, case

    def is_declared(self, case: Case) -> bool:
        """Whether the harness says that it can do all that a case needs."""
        return (
            undeclared_operation(case, self.said.operations, self.said.dialects) is None
            and all(each.element_type in self.said.element_types for each in case.inputs if each.role == "tensor")
            and all(each.binding in self.said.bindings for each in case.inputs)
            and (self.said.dynamic or all(each.dynamic is None for each in case.inputs))
        )

    def is_normative(self, case: Case) -> bool:
        """Whether everything that a case tests is said by the specification."""
        notes = self.suite.header.requirements[case.op]
        return all(notes[each].level == "normative" for each in case.requirements if each in notes)

    def a_plain_case(self) -> tuple[Entry, Case]:
        """The case that the harness is known to do.

        Raises:
            NotApplicable: There is none.
        """
        if self.plain is None:
            raise NotApplicable("it needs a plain case that is answered `ok`, see run.plain")
        return self.plain

    def breach(self, rule: str, sentence: str, *, request: bytes | None = None, reply: bytes | None = None) -> None:
        """Take note of a rule that is broken; the same fault is noted once."""
        noted = self.breaches.setdefault(rule, [])
        if all(each.sentence != sentence for each in noted):
            noted.append(Breach(request=request, reply=reply, sentence=sentence))

    def breach_of(self, rule: str, answer: Answer, sentence: str) -> None:
        """Take note of a rule that an answer breaks."""
        self.breach(rule, sentence, request=answer.request, reply=answer.line)

    def note(self, rule: str, sentence: str) -> None:
        """Take note of what is worth knowing and breaks no rule."""
        self.notes.setdefault(rule, []).append(sentence)

    def prepare(
        self,
        entry: Entry,
        case: Case,
        *,
        seq: int | None = None,
        folder: Path | None = None,
        outputs: Path | None = None,
        dialect: str | None = None,
        without: str | None = None,
    ) -> Prepared:
        """Lay a case's files ready, as a run does.

        Args:
            entry: The case's line.
            case: The case.
            seq: The number of the request; the next one by default.
            folder: Where its files lie; a new folder of the scratch by default.
            outputs: The folder for its outputs; the scratch by default.
            dialect: The dialect to give it in; the first one by default.
            without: The names of the files that are left out begin so.
        """
        self._seq += 1
        place = folder or self.scratch / f"{self._seq}"
        chosen = dialect or next(iter(self._dialects_of(entry)), None)
        for name in entry.files:
            wanted = name.startswith("inputs.") or (chosen is not None and name.startswith(f"{chosen}/"))
            if wanted and not (without is not None and name.startswith(without)):
                (place / name).parent.mkdir(parents=True, exist_ok=True)
                (place / name).write_bytes(self.suite.read(entry, name))
        paths = tuple(
            (outputs or self.scratch) / f"{self._seq}{f'.{feed}' if feed else ''}.npz" for feed in range(case.feeds)
        )
        number = self._seq if seq is None else seq
        line = run_line(
            number,
            case,
            folder=str(place),
            dialect=chosen,
            model=None if chosen is None else self.suite.header.dialects[chosen],
            feeds=[Feed(inputs=inputs_name(feed), outputs=str(path)) for feed, path in enumerate(paths)],
        )
        return Prepared(entry=entry, case=case, seq=number, folder=place, outputs=paths, line=line)

    async def play(self, prepared: Prepared) -> Played:
        """Play one case and wait for its answer.

        Raises:
            NoAnswer: There is none.
        """
        conversation = await self.conversation()
        answer = await conversation.ask(prepared.line)
        self._judge(answer)
        self.judge_seq(answer, prepared.seq)
        return prepared.answered(answer)

    async def play_all(self, prepared: Sequence[Prepared]) -> list[Answer]:
        """Send several requests at once; the answers as they come."""
        conversation = await self.conversation()
        answers = await conversation.ask_all([each.line for each in prepared])
        for each in answers:
            self._judge(each)
        return answers

    def judge_seq(self, answer: Answer, seq: int) -> None:
        """Take note of a wrong `seq`."""
        said = answer.document.get("seq")
        if isinstance(said, int) and said != seq:
            self.breach_of("run.seq", answer, "the `seq` of the reply is not that of the request")

    def outputs(self, played: Played, rule: str) -> list[tuple[Array, ...]]:
        """The outputs of each feed of a case that was answered `ok`, as far as they can be read.

        Args:
            played: The case.
            rule: The rule that it breaks if they cannot.

        Raises:
            NotApplicable: No outputs can be read at all.
        """
        if rule != "ok.outputs" and "ok.outputs" in self.breaches:
            raise NotApplicable("the outputs of a plain case cannot be read, see ok.outputs")
        read = []
        for path in played.outputs:
            found = _outputs_in(path, played.folder)
            if isinstance(found, str):
                self.breach_of(rule, played.answer, found)
            else:
                read.append(found)
        return read

    async def conversation(self, *, listen: float = 0.0) -> Conversation:
        """The conversation that goes on, or a new one in a process of its own, in which `start` is answered.

        Args:
            listen: How long nothing is said to a new process, in seconds.

        Raises:
            NoAnswer: `start` is not answered.
        """
        if self._conversation is None:
            self._conversation = await self._begun(listen)
        return self._conversation

    async def _begun(self, listen: float) -> Conversation:
        conversation = Conversation(await started(self.command), self.timeout)
        try:
            await conversation.listen(listen)
            for line in conversation.early:
                self.breach("output.before-start", unasked(line), reply=line)
            await conversation.start()
        except BaseException:
            await conversation.process.kill()
            raise
        for line in conversation.early:
            self.breach("output.before-start", unasked(line), reply=line)
        return conversation

    async def end(self) -> None:
        """End the conversation that goes on, and take note of everything stray in it."""
        ended, self._conversation = self._conversation, None
        if ended is not None:
            await ended.process.kill()
            for request, line in ended.stray:
                self.breach("output.between", unasked(line), request=request, reply=line)

    def _judge(self, answer: Answer) -> None:
        """Note all that is wrong with an answer taken by itself."""
        self.answers.append(answer)
        for each in reply_faults(answer.line):
            self.breach_of(_RULES.get(each.key, "run.answer"), answer, each.sentence)
        seconds = answer.document.get("seconds")
        if isinstance(seconds, int | float) and seconds > answer.seconds + _CLOCKS:
            self.breach_of("ok.seconds", answer, "`seconds` is more than the time from the request to the reply")

    def _is_given(self, entry: Entry, case: Case) -> bool:
        if self.said.dialects:
            return bool(self._dialects_of(entry))
        return case.is_bare or self.said.graphs

    def _dialects_of(self, entry: Entry) -> list[str]:
        return [each for each in self.said.dialects if self.suite.header.dialects.get(each) in entry.files]


def _data_type(case: Case) -> str | None:
    """The element type of the first tensor that a case is given."""
    return next((each.element_type for each in case.inputs if each.role == "tensor"), None)


def padded(case: Case, line: bytes) -> Case:
    """A case whose title makes its request as long as a line may be."""
    return replace(case, title=case.title + "." * (LINE_LIMIT - len(line)))


def _outputs_in(path: Path, folder: Path) -> tuple[Array, ...] | str:
    """The outputs in a file, or what is wrong with it; `folder` is where it may lie by mistake."""
    try:
        return read_outputs(path, str(path), limit=_OUTPUT_LIMIT) or f"{path} holds no output_0"
    except FileNotFoundError:
        elsewhere = sorted(each for each in folder.rglob(path.name) if each.is_file())
        return f"there is no file {path}" + (f"; there is {elsewhere[0]}" if elsewhere else "")
    except OversizedOutputs as fault:
        return f"{path} takes {fault.size:,} bytes"
    except UnreadableOutputs as fault:
        return str(fault)
