// The backend: onnxruntime-node on the CPU, with its default settings.

import ort from "onnxruntime-node";

import { Rejected, Unsupported } from "./protocol.js";

/** The element types of which onnxruntime-node has tensors, by its names. */
const NAMES = new Map([
  ["boolean", "bool"],
  ["f16", "float16"],
  ["f32", "float32"],
  ["f64", "float64"],
  ["i8", "int8"],
  ["i16", "int16"],
  ["i32", "int32"],
  ["i64", "int64"],
  ["u8", "uint8"],
  ["u16", "uint16"],
  ["u32", "uint32"],
  ["u64", "uint64"],
  ["string", "string"],
]);
const ELEMENT_TYPES = new Map(Array.from(NAMES, ([elementType, name]) => [name, elementType]));

/** The requirements that the rendering of a case fulfils: the axis of ONNX's Split is an attribute, and there is no -1. */
const MAPPED = [
  "Split-1:axis.shape",
  "Split-1:axis.element-type",
  "VariadicSplit-1:axis.shape",
  "VariadicSplit-1:axis.element-type",
  "VariadicSplit-1:lengths.remainder",
  "VariadicSplit-1:lengths.remainder-sum",
  "VariadicSplit-1:lengths.remainder-zero",
  "VariadicSplit-1:lengths.single-remainder",
  "VariadicSplit-1:types.independent",
];

/** Messages of ONNX Runtime, or its binding, for something that it does not implement. */
const NOT_IMPLEMENTED = /Could not find an implementation|NOT_IMPLEMENTED|not supported for AutoPadType|^Unsupported data type/;

const QUIET = { logSeverityLevel: 4 }; // the exception has the message

export class OnnxRuntime {
  describe() {
    return {
      implementation: { name: "onnxruntime-node", version: ort.env.versions.node, device: "CPU", language: "javascript" },
      dialects: ["onnx"],
      element_types: [...NAMES.keys()],
      dynamic: true,
      bindings: ["constant", "parameter"],
      mapped: MAPPED,
    };
  }

  async run(testCase, model, feeds) {
    const session = await tried("build", () => ort.InferenceSession.create(model, QUIET));
    try {
      const outputs = [];
      for (const feed of feeds) outputs.push(await executed(session, feed));
      return outputs;
    } finally {
      await session.release();
    }
  }
}

/** The outputs of one feed, in the session's order. */
async function executed(session, feed) {
  for (const { type } of session.outputMetadata) {
    if (!ELEMENT_TYPES.has(type)) throw new Unsupported(`onnxruntime-node has no tensors of ${type}`);
  }
  const inputs = Object.fromEntries(session.inputNames.map((name) => [name, tensorOf(feed, name)]));
  const outputs = await tried("run", () => session.run(inputs));
  return session.outputNames.map((name) => {
    const { type, dims, data } = outputs[name];
    return { elementType: ELEMENT_TYPES.get(type), shape: dims, data };
  });
}

function tensorOf(feed, name) {
  const tensor = feed.get(name);
  if (tensor === undefined) throw new Error(`the model has the input ${name}, which the case does not have`);
  const type = NAMES.get(tensor.elementType);
  if (type === undefined) throw new Unsupported(`onnxruntime-node has no tensors of ${tensor.elementType}`);
  return new ort.Tensor(type, tensor.data, tensor.shape);
}

/** The result of ONNX Runtime, or `Rejected`. The binding raises a TypeError if it is called wrongly. */
async function tried(stage, action) {
  try {
    return await action();
  } catch (fault) {
    if (fault instanceof TypeError) throw fault;
    if (NOT_IMPLEMENTED.test(fault.message)) throw new Unsupported(fault.message, { cause: fault });
    throw new Rejected(stage, fault.message);
  }
}
