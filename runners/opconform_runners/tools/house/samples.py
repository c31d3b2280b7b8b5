"""Rules on samples: each group of `cases/every` has cases of the operation, and data has many dimensions."""

from collections.abc import Iterator

from opconform.generation.expansion import expand
from opconform.operations.operation import Operation
from opconform.specs.every.groups import every_groups
from opconform.specs.every.sample import CONSTANT_DATA, Samples
from opconform.specs.every.schema import EveryGroup
from opconform.specs.every.wrong_arguments import extreme_values, wrong_arguments
from opconform.specs.group import Group
from opconform.specs.index import SAMPLES
from opconform.specs.matrix.expressions import is_expression
from opconform_runners.tools.house.exceptions import FILE, is_excepted
from opconform_runners.tools.house.lacks import Lack
from opconform_runners.tools.house.operation import HouseOperation

#: The ranks that samples have besides small ones: above the ranks of most backends' kernels, and far above them.
RANKS = (9, 12)
#: The rule on these ranks.
HIGH_RANKS = "ranks-9-and-12"
#: The group that only some operations have a sample for, since it takes so much memory.
_OPTIONAL = "large"


def ranks(house: HouseOperation) -> Iterator[Lack]:
    """A sample has data of rank 9, and another one of rank 12."""
    samples = house.samples
    if samples is None or is_excepted(house.name, HIGH_RANKS):
        return
    found = {sample["rank"] for sample in samples.described()}
    for rank in sorted({*RANKS} - found):
        yield _lack(samples, f"no sample has data of rank {rank}", HIGH_RANKS)


def every_group(house: HouseOperation) -> Iterator[Lack]:
    """Each group of `cases/every` that is about what the operation has makes a case of a sample."""
    samples = house.samples
    if samples is None:
        yield Lack(house.file(SAMPLES), None, "write samples, of which the groups of cases/every make cases")
        return
    groups = {group.id: group for group in house.groups if group.samples is not None}
    for every in (x for x in every_groups() if x.id != _OPTIONAL):
        has_cases = every.id in groups and _has_cases(groups[every.id])
        if is_excepted(house.name, every.id):
            if has_cases:
                what = f"{house.name} has cases of the group {every.id}: remove it from the exceptions"
                yield Lack(FILE, None, what)
        elif not has_cases and _is_due(every, samples):
            takes = f", which takes samples where `{every.where}`" if every.where else ""
            yield _lack(samples, f"the group {every.id} of cases/every ({every.title}) has no case{takes}", every.id)


def _has_cases(group: Group) -> bool:
    return next(expand(group), None) is not None


def _lack(samples: Samples, what: str, rule: str) -> Lack:
    todo = f"add such a sample, or name {samples.op} and the reason under the rule {rule} in {FILE}"
    return Lack(samples.document.file, samples.document.place(("samples",))[0], f"{what}: {todo}")


def _is_due(every: EveryGroup, samples: Samples) -> bool:
    """Whether a group is about what the operation has: settings, types of data, arguments that can be wrong."""
    operation, named = samples.operation, repr(every.matrix)
    settings = [port for port in operation.inputs if port.setting]
    lists = {
        "settings": settings[1:],
        "integers": [x for port in settings for x in port.types or () if x != port.default_type],
        "wrong_arguments": wrong_arguments(samples),
        "extreme_values": extreme_values(samples),
    }
    if any(f"{{{{ {name} }}}}" in named and not values for name, values in lists.items()):
        return False
    if every.binding in ("parameter", CONSTANT_DATA) and all(port.constant for port in settings):
        return False
    computes = any(sample["computes"] for sample in samples.described())
    if computes and "and not sample.computes" in (every.where or ""):
        return False
    return _takes_types(every, operation)


def _takes_types(every: EveryGroup, operation: Operation) -> bool:
    """Whether all ports of data take one of the element types that a group has, if it says any."""
    written = every.matrix.get("element_type")
    types = written if isinstance(written, list | tuple) else [every.data.element_type]
    if is_expression(types[0]) or types[0] in (None, "i32", "f32"):  # which the loader replaces where it must
        return True
    return any(all(port.types is None or name in port.types for port in operation.data) for name in types)
