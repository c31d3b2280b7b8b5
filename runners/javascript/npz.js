// Tensors and `.npz` containers: a tensor is `{elementType, shape, data}`, bit for bit.
//
// `data` is a typed array as npy.js reads it, or a list of strings. No element is converted to a JavaScript number, so
// that a NaN keeps its payload and an i64 keeps all bits.

import { unzipSync, zipSync } from "fflate";

import { arrayOfNpy, bytesOfNpy } from "./npy.js";

/** The dtype of each element type in `.npy`; types that it cannot name are unsigned integers of the same width. */
const DESCR = new Map([
  ["boolean", "|b1"],
  ["bf16", "<u2"],
  ["f16", "<f2"],
  ["f32", "<f4"],
  ["f64", "<f8"],
  ...["f4e2m1", "f8e4m3", "f8e5m2", "f8e8m0", "i4", "u1", "u2", "u3", "u4", "u6", "nf4"].map((each) => [each, "|u1"]),
  ["i8", "|i1"],
  ["i16", "<i2"],
  ["i32", "<i4"],
  ["i64", "<i8"],
  ["u8", "|u1"],
  ["u16", "<u2"],
  ["u32", "<u4"],
  ["u64", "<u8"],
  ["string", "<U"],
]);

const SUFFIX = ".npy";

/** Whether a member is as large as its directory says. One that is compressed could take any memory, and is an error. */
function isStored({ name, size, originalSize, compression }) {
  if (compression !== 0 || size !== originalSize) throw new Error(`${name} is compressed, which no array is`);
  return true;
}

/** The tensors of a container by name; `types` has the element type of each. */
export function tensorsOfNpz(bytes, types) {
  const tensors = new Map();
  for (const [member, content] of Object.entries(unzipSync(bytes, { filter: isStored }))) {
    const name = member.endsWith(SUFFIX) ? member.slice(0, -SUFFIX.length) : member;
    const elementType = types.get(name);
    const { descr, shape, data } = arrayOfNpy(content, member);
    if (descr.replace(/(?<=U)\d+$/, "") !== DESCR.get(elementType)) {
      throw new Error(`${member} contains ${descr}, but ${name} is ${elementType ?? "no element type"}`);
    }
    tensors.set(name, { elementType, shape, data });
  }
  return tensors;
}

/** A container of a feed's outputs: output_0, output_1, … */
export function bytesOfNpz(outputs) {
  const members = outputs.map(({ elementType, shape, data }, number) => [
    `output_${number}${SUFFIX}`,
    bytesOfNpy({ descr: DESCR.get(elementType), shape, data }),
  ]);
  return zipSync(Object.fromEntries(members), { level: 0 });
}
