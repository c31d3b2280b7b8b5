"""Layers of BERT, GPT-2, ResNet-50 and DenseNet-121 as ONNX models with the shapes of their papers, without weights."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onnx import TensorProto, helper

#: The width, the heads, the width of a head and that of the layer in between, of BERT-base and of the smallest GPT-2.
WIDTH, HEADS, HEAD, INNER = 768, 12, 64, 3_072
#: The tokens of a vocabulary: those of the models have more elements than a case can.
TOKENS = 1_000
#: The channels and the number of blocks of the four stages of ResNet-50.
STAGES = ((64, 3), (128, 4), (256, 6), (512, 3))
#: How many channels a layer of DenseNet-121 adds, and how many it computes with.
GROWTH, BOTTLENECK = 32, 128
CLASSES = 1_000


class Model:
    """A graph of ONNX under construction. Weights have shapes only: their elements are in no file."""

    def __init__(self, name: str) -> None:
        self._name, self._count = name, 0
        self._nodes: list[Any] = []
        self._weights: list[Any] = []
        self._inputs: list[Any] = []

    def input(self, *shape: int, element_type: int = TensorProto.FLOAT) -> str:
        """An input of the model."""
        self._inputs.append(helper.make_tensor_value_info(self._named("input"), element_type, shape))
        return str(self._inputs[-1].name)

    def weight(self, *shape: int) -> str:
        """A constant of f32 whose elements are in a file that does not exist."""
        tensor = TensorProto(name=self._named("weight"), data_type=TensorProto.FLOAT, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="weights")
        self._weights.append(tensor)
        return str(tensor.name)

    def number(self, value: float) -> str:
        """A scalar of f32."""
        self._weights.append(helper.make_tensor(self._named("number"), TensorProto.FLOAT, [], [value]))
        return str(self._weights[-1].name)

    def integers(self, *values: int) -> str:
        """A list of i64."""
        self._weights.append(helper.make_tensor(self._named("integers"), TensorProto.INT64, [len(values)], values))
        return str(self._weights[-1].name)

    def __call__(self, op: str, *inputs: str, **attributes: Any) -> str:
        """The output of a node."""
        return self.several(1, op, *inputs, **attributes)[0]

    def several(self, count: int, op: str, *inputs: str, **attributes: Any) -> list[str]:
        """The outputs of a node."""
        outputs = [self._named(op.lower()) for _ in range(count)]
        self._nodes.append(helper.make_node(op, inputs, outputs, name=f"{op}_{self._count}", **attributes))
        return outputs

    def finished(self, *outputs: str) -> bytes:
        """The model with some outputs, as the content of a file."""
        values = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph(self._nodes, self._name, self._inputs, values, self._weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
        return bytes(model.SerializeToString())

    def _named(self, word: str) -> str:
        self._count += 1
        return f"{word}_{self._count}"


def linear(model: Model, x: str, width: int, out: int) -> str:
    """A product with weights, and a bias."""
    return model("Add", model("MatMul", x, model.weight(width, out)), model.weight(out))


def normalized(model: Model, x: str, epsilon: float) -> str:
    """A normalization of the last dimension, with its scale and bias."""
    return model("LayerNormalization", x, model.weight(WIDTH), model.weight(WIDTH), axis=-1, epsilon=epsilon)


def heads(model: Model, x: str, tokens: int, order: Sequence[int]) -> str:
    """The parts of the last dimension as heads."""
    return model("Transpose", model("Reshape", x, model.integers(1, tokens, HEADS, HEAD)), perm=order)


def attended(model: Model, weights: str, values: str, tokens: int) -> str:
    """The values by the weights of the attention, with the heads joined."""
    context = model("Transpose", model("MatMul", model("Softmax", weights, axis=-1), values), perm=[0, 2, 1, 3])
    return model("Reshape", context, model.integers(1, tokens, WIDTH))


def bert(tokens: int) -> bytes:
    """The embeddings, a layer and the pooler of BERT-base (Devlin et al., 2018), as PyTorch exports them."""
    model = Model("bert-base")
    words = model("Gather", model.weight(TOKENS, WIDTH), model.input(1, tokens, element_type=TensorProto.INT64))
    embedded = model("Add", words, model.weight(1, tokens, WIDTH))
    x = normalized(model, embedded, 1e-12)
    mask = model("Unsqueeze", model.input(1, tokens, element_type=TensorProto.INT64), model.integers(1, 2))
    kept = model("Sub", model.number(1), model("Cast", mask, to=TensorProto.FLOAT))
    hidden = model("Mul", kept, model.number(-10_000))
    queries, keys, values = (
        heads(model, linear(model, x, WIDTH, WIDTH), tokens, order)
        for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
    )
    scores = model("Div", model("MatMul", queries, keys), model.number(8))
    context = attended(model, model("Add", scores, hidden), values, tokens)
    x = normalized(model, model("Add", linear(model, context, WIDTH, WIDTH), x), 1e-12)
    inner = linear(model, x, WIDTH, INNER)
    erf = model("Add", model("Erf", model("Div", inner, model.number(2**0.5))), model.number(1))
    gelu = model("Mul", model("Mul", inner, erf), model.number(0.5))
    x = normalized(model, model("Add", linear(model, gelu, INNER, WIDTH), x), 1e-12)
    first = model("Gather", x, model.integers(0), axis=1)
    pooled = model("Tanh", linear(model, model("Squeeze", first, model.integers(1)), WIDTH, WIDTH))
    return model.finished(pooled, model("Gelu", inner))


def gpt2(tokens: int) -> bytes:
    """A block of the smallest GPT-2 (Radford et al., 2019) that continues a text of as many tokens."""
    model, total = Model("gpt2"), 2 * tokens
    x = model.input(1, tokens, WIDTH)
    fused = linear(model, normalized(model, x, 1e-5), WIDTH, 3 * WIDTH)
    parts = model.several(3, "Split", fused, model.integers(WIDTH, WIDTH, WIDTH), axis=2)
    queries, keys, values = (heads(model, part, tokens, [0, 2, 1, 3]) for part in parts)
    past = [model.input(1, HEADS, tokens, HEAD) for _ in range(2)]
    keys, values = (model("Concat", *pair, axis=2) for pair in zip(past, (keys, values), strict=True))
    turned = model("Transpose", keys, perm=[0, 1, 3, 2])
    scores = model("Mul", model("MatMul", queries, turned), model.number(0.125))
    whole = model.input(1, 1, 1024, 1024, element_type=TensorProto.BOOL)
    rows, columns = model.integers(tokens, 0), model.integers(total, total)
    causal = model("Slice", whole, rows, columns, model.integers(2, 3))
    hidden = model("Where", causal, scores, model.number(-1e9))
    x = model("Add", linear(model, attended(model, hidden, values, tokens), WIDTH, WIDTH), x)
    inner = linear(model, normalized(model, x, 1e-5), WIDTH, INNER)
    out = linear(model, model("Gelu", inner, approximate="tanh"), INNER, WIDTH)
    return model.finished(model("Add", out, x))


def convolved(model: Model, x: str, channels: tuple[int, int], size: int, stride: int = 1, pads: int = 0) -> str:
    """A convolution and the scale and bias of a batch normalization; `channels` are those before and behind it."""
    before, behind = channels
    weight = model.weight(behind, before, size, size)
    x = model("Conv", x, weight, strides=[stride] * 2, pads=[pads] * 4, dilations=[1, 1])
    return model("Add", model("Mul", x, model.weight(1, behind, 1, 1)), model.weight(1, behind, 1, 1))


def resnet(size: int) -> bytes:
    """ResNet-50 (He et al., 2015) for images of a size, whose first convolution has its pads from a node of its own."""
    model = Model("resnet-50")
    pixels = model("Cast", model.input(1, size, size, 3, element_type=TensorProto.UINT8), to=TensorProto.FLOAT)
    image = model("Transpose", pixels, perm=[0, 3, 1, 2])
    image = model("Div", model("Sub", image, model.weight(1, 3, 1, 1)), model.weight(1, 3, 1, 1))
    padded = model("Pad", image, model.integers(0, 0, 3, 3, 0, 0, 3, 3))
    x = model("Relu", convolved(model, padded, (3, 64), 7, stride=2))
    x = model("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    before = 64
    for stage, (width, blocks) in enumerate(STAGES):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = model("Relu", convolved(model, x, (before, width), 1))
            y = model("Relu", convolved(model, y, (width, width), 3, stride=stride, pads=1))
            y = convolved(model, y, (width, 4 * width), 1)
            beside = x if block else convolved(model, x, (before, 4 * width), 1, stride=stride)
            x, before = model("Relu", model("Add", y, beside)), 4 * width
    mean = model("ReduceMean", x, model.integers(2, 3), keepdims=0)
    return model.finished(model("Softmax", linear(model, mean, before, CLASSES), axis=-1))


def densenet(size: int) -> bytes:
    """The first block of DenseNet-121 (Huang et al., 2016) behind its first pooling, and its transition."""
    model = Model("densenet-121")
    parts, width = [model.input(1, 64, size, size)], 64
    for _ in range(6):
        x = model("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]
        x = model("Add", model("Mul", x, model.weight(1, width, 1, 1)), model.weight(1, width, 1, 1))
        x = model("Relu", convolved(model, model("Relu", x), (width, BOTTLENECK), 1))
        parts.append(model("Conv", x, model.weight(GROWTH, BOTTLENECK, 3, 3), pads=[1] * 4))
        width += GROWTH
    whole = model("Concat", *parts, axis=1)
    half = model("Conv", whole, model.weight(width // 2, width, 1, 1))
    return model.finished(model("ReduceMean", half, model.integers(-1, -2), keepdims=1))


#: The models of each profile by their names, given the number of tokens or the size of images, the real one first.
PROFILES: Mapping[str, tuple[Mapping[str, Callable[[int], bytes]], Sequence[int]]] = {
    "transformer": ({"bert-base": bert, "gpt2": gpt2}, (128, 64, 32, 16, 8, 5, 4, 3, 2, 1)),
    "vision": ({"resnet-50": resnet, "densenet-121": densenet}, (224, 112, 96, 64, 56, 48, 32, 16, 8)),
}
