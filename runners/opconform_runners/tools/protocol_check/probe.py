"""The probe of one harness: the requests sent to it, its answers, and every breach of a rule."""

import contextlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path

from opconform.suite.case import Accept, Case
from opconform.suite.manifest import Entry
from opconform.suite.reader import Suite
from opconform.tensors.tensor import Array
from opconform_runners.backends.backend import Implementation
from opconform_runners.execution.outputs import read_outputs
from opconform_runners.execution.request import Place, Request, dialect_of, inline_outputs, lay_out
from opconform_runners.harness.command import Launch
from opconform_runners.harness.outcome import Error, Oversized
from opconform_runners.harness.process import started
from opconform_runners.harness.protocol import CLOCKS, reply_faults
from opconform_runners.tools.protocol_check.conversation import Conversation, Exchange, abridged, said_in
from opconform_runners.verdicts.judge import declared_gap

#: The bytes that the outputs of a case may take here.
_OUTPUT_LIMIT = 1 << 26
#: The rule that a key of a reply belongs to; all other keys belong to `run.answer`.
_RULES = {
    "seconds": "ok.seconds",
    "element_types": "ok.element-types",
    "stage": "rejected.why",
    "requirement": "rejected.why",
    "message": "rejected.why",
}

#: A case and its line of the manifest.
Given = tuple[Entry, Case]


class NotApplicable(Exception):  # noqa: N818 - an answer, not an error
    """A rule does not apply to this harness, or cannot be checked; the message says why."""


@dataclass
class Probe:
    """The check of one harness so far, with cases of a suite in every dialect.

    Attributes:
        greeting: The first answer of the harness to `start`.
        scratch: A folder for cases and outputs.
        rule: The rule that is being checked.
        breaches: The violations by rule and sentence, with the messages that show each.
        notes: Remarks that are not violations, by rule.
        answers: Every answer to `run`.
        answered: The simple case that the harness has answered `ok`, if there is one.
    """

    suite: Suite
    launch: Launch
    greeting: Exchange
    dialects: Collection[str]
    scratch: Path
    rule: str = ""
    breaches: dict[str, dict[str, Exchange]] = field(default_factory=dict)
    notes: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    answers: list[Exchange] = field(default_factory=list)
    answered: Given | None = None
    _conversation: Conversation | None = None
    _requests: int = 0

    @cached_property
    def said(self) -> Implementation:
        """The declaration of the harness, without what is wrong in it."""
        return said_in(self.greeting.document)

    @cached_property
    def cases(self) -> Sequence[Given]:
        """The cases that the harness can be given, the smallest first."""
        every = ((each, self.suite.case(each)) for each in self.suite.entries)
        given = [(entry, case) for entry, case in every if dialect_of(self.suite, entry, case, self.said)[1] is None]
        return sorted(given, key=lambda each: (sum(prod(one.shape) for one in each[1].inputs), each[0].id))

    def simple_case(self) -> Given:
        """The simple case that the harness has answered `ok`; raises `NotApplicable` if there is none."""
        if self.answered is None:
            raise NotApplicable("it needs a simple case that is answered `ok`, see run.plain")
        return self.answered

    def accepted(self, *, context: str = "bare", feeds: int = 1, element_type: str | None = None) -> Iterator[Given]:
        """The valid cases that the harness declares, the smallest first.

        Without an element type for data, only cases of normative requirements.
        """
        for entry, case in self.cases:
            data = next((each.element_type for each in case.inputs if each.role == "tensor"), None)
            wanted = self.is_normative(case) if element_type is None else data == element_type
            alike = wanted and (case.context, case.feeds) == (context, feeds)
            if alike and isinstance(case.expect, Accept) and declared_gap(case, self.said) is None:
                yield entry, case

    def is_normative(self, case: Case) -> bool:
        """Whether a case tests normative requirements only."""
        notes = self.suite.header.requirements[case.op]
        return all(notes[each].level == "normative" for each in case.requirements if each in notes)

    def breach(self, sentence: str, exchange: Exchange, rule: str | None = None) -> None:
        """Note a violation, by default of the rule that is being checked; the same sentence is noted once."""
        self.breaches.setdefault(rule or self.rule, {}).setdefault(sentence, exchange)

    def note(self, sentence: str) -> None:
        """Note a remark on the rule that is being checked."""
        self.notes[self.rule].append(sentence)

    def prepare(
        self,
        given: Given | None = None,
        *,
        seq: int | None = None,
        folder: Path | None = None,
        outputs: Path | None = None,
        dialect: str | None = None,
        inline: bool = False,
    ) -> Request:
        """Lay out a case as a run does: by default the simple case, numbered next, in the scratch folder."""
        entry, case = given or self.simple_case()
        self._requests += 1
        folder = folder or self.scratch / f"in-{self._requests}"
        place = Place(folder=str(folder), outputs=str(outputs or self.scratch), inline=inline)
        dialect = dialect or dialect_of(self.suite, entry, case, self.said)[0]
        return lay_out(self.suite, (entry, case), dialect, seq=self._requests if seq is None else seq, place=place)

    async def play(self, request: Request) -> Exchange:
        """Send a request, and wait for the answer; raises `NoAnswer` if there is none."""
        [answer] = await self.play_all([request])
        self.check_seq(answer, request.seq)
        return answer

    async def play_all(self, requests: Sequence[Request]) -> list[Exchange]:
        """Send several requests at once; returns the answers as they arrive, after noting what is wrong with each."""
        conversation = await self.conversation()
        answers = await conversation.ask([each.line for each in requests])
        for answer in answers:
            for fault in reply_faults(answer.reply or b""):
                self.breach(fault.sentence, answer, _RULES.get(fault.key, "run.answer"))
            seconds = answer.document.get("seconds")
            if isinstance(seconds, int | float) and seconds > answer.seconds + CLOCKS:
                self.breach("`seconds` is more than the time from the request to the reply", answer, "ok.seconds")
        self.answers += answers
        return answers

    def check_seq(self, answer: Exchange, seq: int) -> None:
        """Note a wrong `seq`."""
        said = answer.document.get("seq")
        if isinstance(said, int) and said != seq:
            self.breach("the `seq` of the reply is not that of the request", answer, "run.seq")

    def outputs(self, request: Request, answer: Exchange, rule: str = "ok.outputs") -> list[tuple[Array, ...]]:
        """The readable outputs of each feed of a case that was answered `ok`; unreadable ones violate the rule."""
        if rule != "ok.outputs":
            self.need("ok.outputs")
        said = answer.document.get("outputs")
        inline = said if isinstance(said, list) and len(said) == len(request.outputs) else [None] * len(request.outputs)
        found = [
            _or_sentence(inline_outputs(text)) if isinstance(text, str) else _outputs_in(Path(path), request.folder)
            for path, text in zip(request.outputs, inline, strict=True)
        ]
        for each in found:
            if isinstance(each, str):
                self.breach(each, answer, rule)
        return [each for each in found if not isinstance(each, str)]

    def need(self, *rules: str) -> None:
        """Raise `NotApplicable` if a rule on which another one depends is broken."""
        for each in rules:
            if each in self.breaches:
                raise NotApplicable(f"{each} is broken")

    async def conversation(self, *, listen: float = 0.0) -> Conversation:
        """The current conversation, or a new one, in which `start` is sent after some seconds of silence."""
        if self._conversation is None:
            conversation = Conversation(await started(self.launch.command), self.launch.timeout)
            try:
                conversation.early += await conversation.listen(listen)
                await conversation.start()
            except BaseException:
                await conversation.process.kill()
                raise
            finally:
                self._unexpected([Exchange(reply=each) for each in conversation.early], "output.before-start")
            self._conversation = conversation
        return self._conversation

    async def end(self) -> None:
        """End the current conversation, and note every stray line in it."""
        ended, self._conversation = self._conversation, None
        if ended is not None:
            await ended.process.kill()
            self._unexpected(ended.stray, "output.between")

    def _unexpected(self, lines: Iterable[Exchange], rule: str) -> None:
        for each in lines:
            self.breach(f"unexpected output {abridged(each.reply or b'', 80)!r}", each, rule)


def _outputs_in(path: Path, folder: Path | None) -> tuple[Array, ...] | str:
    """The outputs in a file, or what is wrong with it; the harness may have written it to `folder` by mistake."""
    try:
        found = read_outputs(path, str(path), limit=_OUTPUT_LIMIT)
    except FileNotFoundError:
        elsewhere = _files_called(path.name, folder) if folder is not None else []
        return f"file not found: {path}" + (f"; found {elsewhere[0]} instead" if elsewhere else "")
    if isinstance(found, Oversized):
        return f"{path} takes {found.size:,} bytes"
    return _or_sentence(found) or f"{path} contains no arrays"


def _files_called(name: str, folder: Path) -> list[Path]:
    """The files of a name in a folder, unless a harness has made that deeper than can be searched."""
    with contextlib.suppress(OSError, RecursionError):
        return sorted(each for each in folder.rglob(name) if each.is_file())
    return []


def _or_sentence(found: tuple[Array, ...] | Error) -> tuple[Array, ...] | str:
    return found.sentence if isinstance(found, Error) else found
