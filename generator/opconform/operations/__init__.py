"""The known operations, with their reference semantics: the shipped ones, and those that distributions install."""

import re
from collections.abc import Mapping
from pathlib import Path

from opconform.operations.arithmetic.activations import ELU, MISH, SOFTPLUS, SOFTSIGN, SWISH
from opconform.operations.arithmetic.attention import SCALED_DOT_PRODUCT_ATTENTION
from opconform.operations.arithmetic.avg_pool import AVG_POOL_1, AVG_POOL_14
from opconform.operations.arithmetic.batch_norm import BATCH_NORM_INFERENCE
from opconform.operations.arithmetic.binary import (
    ADD,
    DIVIDE,
    FLOOR_MOD,
    MAXIMUM,
    MINIMUM,
    MOD,
    MULTIPLY,
    SUBTRACT,
)
from opconform.operations.arithmetic.bitwise import (
    BITWISE_AND,
    BITWISE_LEFT_SHIFT,
    BITWISE_OR,
    BITWISE_RIGHT_SHIFT,
    BITWISE_XOR,
)
from opconform.operations.arithmetic.classification import IS_FINITE, IS_INF, IS_NAN
from opconform.operations.arithmetic.comparisons import (
    EQUAL,
    GREATER,
    GREATER_EQUAL,
    LESS,
    LESS_EQUAL,
    LOGICAL_AND,
    LOGICAL_OR,
    LOGICAL_XOR,
    NOT_EQUAL,
)
from opconform.operations.arithmetic.complements import BITWISE_NOT, LOGICAL_NOT
from opconform.operations.arithmetic.convert import CONVERT, CONVERT_LIKE
from opconform.operations.arithmetic.convolution import CONVOLUTION, GROUP_CONVOLUTION
from opconform.operations.arithmetic.cum_sum import CUM_SUM
from opconform.operations.arithmetic.eye import EYE
from opconform.operations.arithmetic.fake_quantize import FAKE_QUANTIZE
from opconform.operations.arithmetic.group_norm import GROUP_NORMALIZATION
from opconform.operations.arithmetic.hard_functions import H_SIGMOID, H_SWISH, HARD_SIGMOID
from opconform.operations.arithmetic.integral import CEILING, FLOOR, ROUND, SIGN
from opconform.operations.arithmetic.matmul import MATMUL
from opconform.operations.arithmetic.max_pool import MAX_POOL_8, MAX_POOL_14
from opconform.operations.arithmetic.mvn import MVN
from opconform.operations.arithmetic.power import POWER
from opconform.operations.arithmetic.prelu import PRELU
from opconform.operations.arithmetic.range import RANGE
from opconform.operations.arithmetic.reductions import (
    REDUCE_L1,
    REDUCE_L2,
    REDUCE_LOGICAL_AND,
    REDUCE_LOGICAL_OR,
    REDUCE_MAX,
    REDUCE_MEAN,
    REDUCE_MIN,
    REDUCE_PROD,
    REDUCE_SUM,
)
from opconform.operations.arithmetic.select import SELECT
from opconform.operations.arithmetic.softmax import LOG_SOFTMAX, SOFTMAX
from opconform.operations.arithmetic.squared_difference import SQUARED_DIFFERENCE
from opconform.operations.arithmetic.string_tensors import STRING_TENSOR_PACK, STRING_TENSOR_UNPACK
from opconform.operations.arithmetic.top_k import TOP_K
from opconform.operations.arithmetic.trigonometry import COS, SIN, TAN
from opconform.operations.arithmetic.unary import (
    ABS,
    CLAMP,
    ERF,
    EXP,
    GELU,
    LOG,
    NEGATIVE,
    RELU,
    SIGMOID,
    SQRT,
    TANH,
)
from opconform.operations.movement.batch import BATCH_TO_SPACE, SPACE_TO_BATCH
from opconform.operations.movement.broadcast import BROADCAST, BROADCAST_1
from opconform.operations.movement.col2im import COL2IM
from opconform.operations.movement.concat import CONCAT
from opconform.operations.movement.depth import DEPTH_TO_SPACE, SPACE_TO_DEPTH
from opconform.operations.movement.gathers.gather import GATHER, GATHER_1, GATHER_7
from opconform.operations.movement.gathers.gather_elements import GATHER_ELEMENTS
from opconform.operations.movement.gathers.gather_nd import GATHER_ND, GATHER_ND_5
from opconform.operations.movement.gathers.gather_tree import GATHER_TREE
from opconform.operations.movement.non_zero import NON_ZERO
from opconform.operations.movement.one_hot import ONE_HOT
from opconform.operations.movement.pad import PAD, PAD_1
from opconform.operations.movement.patches import EXTRACT_IMAGE_PATCHES
from opconform.operations.movement.reverse import REVERSE
from opconform.operations.movement.reverse_sequence import REVERSE_SEQUENCE
from opconform.operations.movement.roll import ROLL
from opconform.operations.movement.scatters.scatter_elements import (
    SCATTER_ELEMENTS_UPDATE_3,
    SCATTER_ELEMENTS_UPDATE_12,
)
from opconform.operations.movement.scatters.scatter_nd import SCATTER_ND_UPDATE_3, SCATTER_ND_UPDATE_15
from opconform.operations.movement.scatters.scatter_update import SCATTER_UPDATE
from opconform.operations.movement.scatters.slice_scatter import SLICE_SCATTER
from opconform.operations.movement.shuffle_channels import SHUFFLE_CHANNELS
from opconform.operations.movement.slices.slice import SLICE
from opconform.operations.movement.slices.strided_slice import STRIDED_SLICE
from opconform.operations.movement.split import SPLIT, VARIADIC_SPLIT
from opconform.operations.movement.tile import TILE
from opconform.operations.movement.transpose import TRANSPOSE
from opconform.operations.movement.unique import UNIQUE
from opconform.operations.neighbours.constant import CONSTANT
from opconform.operations.operation import Computation, Movement, Operation
from opconform.operations.shape.reshape import RESHAPE
from opconform.operations.shape.shape_of import SHAPE_OF, SHAPE_OF_1
from opconform.operations.shape.squeeze import SQUEEZE, SQUEEZE_15
from opconform.operations.shape.unsqueeze import UNSQUEEZE
from opconform.suite.declarations import declaration_problem
from opconform.suite.names import KEBAB
from opconform.system.entry_points import Registry, Unusable, file_of
from opconform.system.resources import NAME, OPERATIONS_GROUP, REQUIREMENTS


def _check(name: str, operation: Operation, module: Path) -> None:
    if operation.name != name or not NAME.fullmatch(name):
        raise Unusable(
            f"it declares the operation {operation.name!r}. Give both the same versioned name, as in Tile-1."
        )
    odd = next((x for x in operation.contexts if re.fullmatch(KEBAB, x) is None), None)
    if odd is not None:
        raise Unusable(f"its context {odd!r} is not lower-case words joined by hyphens, as in shape-of. Rename it.")
    if (problem := declaration_problem(operation.declaration)) is not None:
        raise Unusable(f"a suite cannot have its declaration: {problem}.")
    if not (file := module.parent / "cases" / name / REQUIREMENTS).is_file():
        raise Unusable(f"{file} is missing. Write the requirements of the operation in it.")


#: The operations that opconform ships, by versioned name.
SHIPPED = {
    x.name: x
    for x in (
        ABS,
        ADD,
        BATCH_NORM_INFERENCE,
        BATCH_TO_SPACE,
        BITWISE_AND,
        BITWISE_LEFT_SHIFT,
        BITWISE_OR,
        BITWISE_RIGHT_SHIFT,
        BITWISE_XOR,
        BITWISE_NOT,
        BROADCAST,
        BROADCAST_1,
        CEILING,
        CLAMP,
        COL2IM,
        CONCAT,
        CONSTANT,
        CONVERT,
        CONVERT_LIKE,
        CONVOLUTION,
        COS,
        CUM_SUM,
        DEPTH_TO_SPACE,
        DIVIDE,
        ELU,
        EQUAL,
        ERF,
        EXP,
        EXTRACT_IMAGE_PATCHES,
        EYE,
        FLOOR,
        FAKE_QUANTIZE,
        FLOOR_MOD,
        GATHER,
        GATHER_1,
        GATHER_7,
        GATHER_ELEMENTS,
        GATHER_ND,
        GATHER_ND_5,
        GATHER_TREE,
        GELU,
        GREATER,
        GREATER_EQUAL,
        HARD_SIGMOID,
        H_SIGMOID,
        H_SWISH,
        IS_FINITE,
        IS_INF,
        IS_NAN,
        GROUP_CONVOLUTION,
        GROUP_NORMALIZATION,
        LESS,
        LESS_EQUAL,
        LOG,
        LOGICAL_AND,
        LOGICAL_OR,
        LOGICAL_XOR,
        LOGICAL_NOT,
        MATMUL,
        MAXIMUM,
        AVG_POOL_14,
        AVG_POOL_1,
        MAX_POOL_14,
        MAX_POOL_8,
        MINIMUM,
        MOD,
        LOG_SOFTMAX,
        MISH,
        MULTIPLY,
        MVN,
        NEGATIVE,
        NOT_EQUAL,
        NON_ZERO,
        ONE_HOT,
        PAD,
        PAD_1,
        POWER,
        RANGE,
        REDUCE_L1,
        REDUCE_L2,
        REDUCE_LOGICAL_AND,
        REDUCE_LOGICAL_OR,
        PRELU,
        REDUCE_MAX,
        REDUCE_MEAN,
        REDUCE_MIN,
        REDUCE_PROD,
        REDUCE_SUM,
        RELU,
        RESHAPE,
        REVERSE,
        REVERSE_SEQUENCE,
        ROLL,
        ROUND,
        SCALED_DOT_PRODUCT_ATTENTION,
        SCATTER_ELEMENTS_UPDATE_12,
        SCATTER_ELEMENTS_UPDATE_3,
        SCATTER_ND_UPDATE_15,
        SCATTER_ND_UPDATE_3,
        SCATTER_UPDATE,
        SELECT,
        SHAPE_OF,
        SHAPE_OF_1,
        SHUFFLE_CHANNELS,
        SIGMOID,
        SIN,
        SIGN,
        SLICE,
        SLICE_SCATTER,
        SOFTMAX,
        SOFTPLUS,
        SOFTSIGN,
        SPACE_TO_BATCH,
        SPACE_TO_DEPTH,
        SPLIT,
        SQRT,
        SQUARED_DIFFERENCE,
        SQUEEZE,
        SQUEEZE_15,
        STRIDED_SLICE,
        STRING_TENSOR_PACK,
        STRING_TENSOR_UNPACK,
        SUBTRACT,
        SWISH,
        TAN,
        TANH,
        TILE,
        TOP_K,
        TRANSPOSE,
        UNIQUE,
        UNSQUEEZE,
        VARIADIC_SPLIT,
    )
}
_REGISTRY: Registry[Operation] = Registry(OPERATIONS_GROUP, (Movement, Computation), SHIPPED, _check)
#: Every operation by its versioned name.
OPERATIONS: Mapping[str, Operation] = _REGISTRY

#: The names of the operations that installed distributions declare.
installed_operations = _REGISTRY.installed
#: The module that declares an operation of an installed distribution, or None for other operations.
module_of = _REGISTRY.module_of
#: The files that decide the semantics of an operation of an installed distribution.
sources_of = _REGISTRY.sources_of


def installed_cases(op: str) -> Path | None:
    """The folder with the cases of an operation of an installed distribution, or None for other operations."""
    module = module_of(op)
    return None if module is None else file_of(module).parent / "cases" / op


__all__ = [
    "NAME",
    "OPERATIONS",
    "REQUIREMENTS",
    "SHIPPED",
    "installed_cases",
    "installed_operations",
    "module_of",
    "sources_of",
]
