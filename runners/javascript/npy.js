// `.npy` arrays: versions 1.0 and 2.0, little-endian, in C order, never pickled. Any other array is an error.

const MAGIC = Buffer.from("\x93NUMPY", "latin1");
const HEADER = /^\{'descr': '(\|[biu]1|<[iuf][248]|<U\d+)', 'fortran_order': False, 'shape': \(([\d, ]*)\), \} *\n$/;
const ALIGNMENT = 64;
const LARGEST_UTF32 = 4;
/** A NUL at the end of a string, which numpy would drop. */
const LAST_NUL = 0xdc00;

/** The typed array for the bits of each kind of element; f16 is stored as 16-bit integers. */
const ARRAYS = new Map([
  ["|b1", Uint8Array],
  ["|i1", Int8Array],
  ["|u1", Uint8Array],
  ["<f2", Uint16Array],
  ["<i2", Int16Array],
  ["<u2", Uint16Array],
  ["<f4", Float32Array],
  ["<i4", Int32Array],
  ["<u4", Uint32Array],
  ["<f8", Float64Array],
  ["<i8", BigInt64Array],
  ["<u8", BigUint64Array],
]);

/** The array `{descr, shape, data}` in a file's bytes; `where` names the file in errors. */
export function arrayOfNpy(bytes, where) {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const version = view[6];
  if (!view.subarray(0, 6).equals(MAGIC) || (version !== 1 && version !== 2) || view[7] !== 0) {
    throw new Error(`${where} is not a .npy file of version 1.0 or 2.0`);
  }
  const start = version === 1 ? 10 + view.readUInt16LE(8) : 12 + view.readUInt32LE(8);
  const header = view.toString("latin1", version === 1 ? 10 : 12, start);
  const [, descr, dimensions] = HEADER.exec(header) ?? [];
  if (descr === undefined) throw new Error(`${where} has an unsupported header: ${header.trim()}`);
  const shape = dimensions.split(",").filter((each) => each.trim() !== "").map(Number);
  const count = shape.reduce((product, each) => product * each, 1);
  const width = descr.startsWith("<U") ? LARGEST_UTF32 * Number(descr.slice(2)) : ARRAYS.get(descr).BYTES_PER_ELEMENT;
  if (!shape.every(Number.isSafeInteger)) throw new Error(`${where} has a dimension beyond 2^53 - 1: ${header.trim()}`);
  if (count * width !== view.length - start || (width === 0 && count > 0)) {
    throw new Error(`${where} declares the shape [${shape}] of ${descr}, but contains ${view.length - start} bytes`);
  }
  const content = new Uint8Array(view.subarray(start)); // a copy: a typed array's elements must be aligned
  const data = descr.startsWith("<U") ? texts(content, count, width) : new (ARRAYS.get(descr))(content.buffer);
  return { descr, shape, data };
}

/** A file's bytes; `descr` is a supported one, or `<U` for strings of any length. */
export function bytesOfNpy({ descr, shape, data }) {
  const [said, content] = descr === "<U" ? utf32(data) : [descr, bytesOf(data)];
  const tuple = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const header = `{'descr': '${said}', 'fortran_order': False, 'shape': (${tuple}), }`;
  const length = Math.ceil((MAGIC.length + 4 + header.length + 1) / ALIGNMENT) * ALIGNMENT - MAGIC.length - 4;
  const prefix = Buffer.from([...MAGIC, 1, 0, length & 0xff, length >> 8]);
  return Buffer.concat([prefix, Buffer.from(`${header.padEnd(length - 1)}\n`, "latin1"), content]);
}

function bytesOf(data) {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

/** Strings of a fixed number of bytes each, as numpy stores them: code points, padded with zeros. */
function texts(content, count, width) {
  const codes = new Uint32Array(content.buffer);
  const length = width / LARGEST_UTF32;
  return Array.from({ length: count }, (_, number) => {
    const text = codes.subarray(number * length, (number + 1) * length);
    const end = text.findLastIndex((each) => each !== 0) + 1;
    return Array.from(text.subarray(0, end), (each) => String.fromCodePoint(each === LAST_NUL ? 0 : each)).join("");
  });
}

function utf32(strings) {
  const points = strings.map((each) => Array.from(each, (character) => character.codePointAt(0)));
  for (const each of points) each.fill(LAST_NUL, each.findLastIndex((code) => code !== 0) + 1);
  const length = points.reduce((longest, each) => Math.max(longest, each.length), 1);
  const codes = new Uint32Array(length * points.length);
  points.forEach((each, number) => codes.set(each, number * length));
  return [`<U${length}`, bytesOf(codes)];
}
