"""Reads a file of claims, and notes its mistakes with their lines and columns."""

import re
from collections.abc import Collection, Iterator, Mapping

import yaml

from opconform.errors import nearest, quoted
from opconform.explanation.reference import operation_names
from opconform.tensors.element_types import ELEMENT_TYPES
from opconform_runners.findings.support.rules import EVERY, Rule, parse_rule
from opconform_runners.verdicts.accuracy_level import MET_LEVELS, MetLevel

_KEYS = ("backend", "suite", "supported", "unsupported", "accuracy")
#: The accuracy levels that can be claimed.
_LEVELS = MET_LEVELS[:-1]
#: The mistakes after which no further items are looked at.
_ENOUGH = 100
_CASE = re.compile(r"([A-Za-z]\w*-\d+)/[a-z0-9-]+/[0-9a-f]{10}")


class ClaimsParser:
    """What a text claims, as far as it is right, and its mistakes: line and column, from 1, and a sentence.

    The other attributes are attributes of `ClaimsFile`; `rules` and `cases` have the line of each.
    """

    def __init__(self, text: str) -> None:
        self.mistakes: list[tuple[int, int, str]] = []
        fields = self._fields(text)
        self.backend, self.suite = (self._text(fields.get(key), key) for key in ("backend", "suite"))
        self.supported = [*dict.fromkeys(self._operations(fields.get("supported")))]
        self.rules: dict[Rule, int] = {}
        self.cases: dict[str, int] = {}
        for item in self._items(fields.get("unsupported"), "unsupported"):
            self._add_exception(item)
        self.accuracy: dict[str, dict[str, MetLevel]] = {}
        for item in self._items(fields.get("accuracy"), "accuracy"):
            self._add_accuracy(item)

    def _note(self, node: yaml.Node, sentence: str) -> None:
        self.mistakes.append((node.start_mark.line + 1, node.start_mark.column + 1, sentence))

    def _fields(self, text: str) -> Mapping[str, yaml.Node]:
        """The values of the keys."""
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except (yaml.YAMLError, RecursionError) as error:
            mark = getattr(error, "problem_mark", None)
            line, column = (1, 1) if mark is None else (mark.line + 1, mark.column + 1)
            problem = getattr(error, "problem", None) or "it has a forbidden character, or nests too deeply"
            self.mistakes.append((line, column, f"This is not YAML: {problem}."))
            return {}
        if not isinstance(root, yaml.MappingNode):
            self.mistakes.append((1, 1, f"A file of claims has the keys {', '.join(_KEYS)}."))
            return {}
        fields: dict[str, yaml.Node] = {}
        for key, value in root.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else ""
            if name not in _KEYS:
                self._note(key, f"Unknown key {quoted(name)}. {nearest(name, _KEYS)}Allowed: {', '.join(_KEYS)}.")
            elif name in fields:
                self._note(key, f"The key {name} is repeated.")
            fields.setdefault(name, value)
        for name in _KEYS[:-1]:
            if name not in fields:
                self._note(root, f"The key {name} is missing.")
        return fields

    def _text(self, node: yaml.Node | None, what: str) -> str:
        if isinstance(node, yaml.ScalarNode) and node.value:
            return str(node.value)
        if node is not None:
            self._note(node, f"{what} must be a text.")
        return ""

    def _items(self, node: yaml.Node | None, key: str) -> Iterator[yaml.Node]:
        if isinstance(node, yaml.SequenceNode):
            yield from (item for item in node.value if len(self.mistakes) < _ENOUGH)
        elif node is not None:
            self._note(node, f"{key} must be a list, with one item per line; [] for none.")

    def _operations(self, node: yaml.Node | None) -> Iterator[str]:
        seen = set[str]()
        for item in self._items(node, "supported"):
            name = self._text(item, "An operation")
            if name in seen:
                self._note(item, f"{name} is repeated.")
            if self._is_operation(item, name, operation_names()):
                yield name
            seen.add(name)

    def _is_operation(self, node: yaml.Node, name: str, known: Collection[str]) -> bool:
        """Whether a name names a known operation; if not, note a mistake."""
        if name in known:
            return True
        if name in operation_names():
            self._note(
                node, f"{name} is not under `supported`, so nothing of it is claimed. Remove this line, or add it."
            )
        elif name:
            hint = nearest(name, operation_names())
            self._note(node, f"{quoted(name)} is not an operation. {hint}`opconform list` names them.")
        return False

    def _add_exception(self, node: yaml.Node) -> None:
        """Add a rule, `OPERATION: FACTS` or `every operation: FACTS`, or the id of a case."""
        if isinstance(node, yaml.MappingNode) and len(node.value) == 1:
            [(subject, words)] = node.value
            name, facts = self._text(subject, "An operation"), self._text(words, "A rule")
            if not facts or (name != EVERY and not self._is_operation(subject, name, self.supported)):
                return
            try:
                rule = parse_rule(name, facts)
            except ValueError as error:
                self._note(words, str(error))
                return
            if self._is_new(node, self.rules.get(rule)):
                self.rules[rule] = node.start_mark.line + 1
        elif isinstance(node, yaml.ScalarNode) and (match := _CASE.fullmatch(node.value)):
            if self._is_operation(node, match[1], self.supported) and self._is_new(node, self.cases.get(node.value)):
                self.cases[node.value] = node.start_mark.line + 1
        else:
            example = "`Gather-8: data is u1 or u4`, `every operation: data is string` or `Split-1/edges/0123456789`"
            self._note(node, f"Each item is a rule or the id of a case, as in {example}.")

    def _add_accuracy(self, node: yaml.Node) -> None:
        """Add the levels of an operation, `OPERATION: TYPE LEVEL, TYPE LEVEL`."""
        if not isinstance(node, yaml.MappingNode) or len(node.value) != 1:
            example = "`Exp-1: f16 bounded, f32 reduced`"
            self._note(node, f"Each item has the accuracy levels of an operation, as in {example}.")
            return
        [(subject, words)] = node.value
        name, text = self._text(subject, "An operation"), self._text(words, "Accuracy levels")
        if not text or not self._is_operation(subject, name, self.supported):
            return
        if name in self.accuracy:
            self._note(subject, f"{name} is repeated.")
        levels: dict[str, MetLevel] = {}
        for words_of_type in text.split(","):
            element_type, _, level_name = words_of_type.strip().partition(" ")
            level = next((level for level in _LEVELS if level == level_name), None)
            if element_type not in ELEMENT_TYPES:
                hint = nearest(element_type, ELEMENT_TYPES)
                self._note(words, f"{quoted(element_type)} is not an element type. {hint}".rstrip())
            elif level is None:
                self._note(words, f"{quoted(level_name)} is not an accuracy level. Allowed: {', '.join(_LEVELS)}.")
            elif element_type in levels:
                self._note(words, f"{element_type} is repeated.")
            else:
                levels[element_type] = level
        self.accuracy.setdefault(name, levels)

    def _is_new(self, node: yaml.Node, line: int | None) -> bool:
        """Whether an item is not in an earlier line, or else a mistake."""
        if line is not None:
            self._note(node, f"This repeats line {line}.")
        return line is None
