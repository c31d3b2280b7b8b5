// The harness protocol, version 1: one JSON object per line, requests on standard input and replies on standard output.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { bytesOfNpz, tensorsOfNpz } from "./npz.js";

const LONGEST_MESSAGE = 2_000;
const NEWLINE = 0x0a;

/** The backend refuses the case as invalid; `stage` is `build` or `run`. */
export class Rejected extends Error {
  constructor(stage, message) {
    super(message);
    this.stage = stage;
  }
}

/** The backend does not implement what the case needs. */
export class Unsupported extends Error {}

/**
 * Answers requests until `stop` or the end of the input.
 *
 * A backend has two methods. `describe()` returns the reply to `start` without the protocol's version.
 * `run(testCase, model, feeds)` returns the outputs of each feed, all from one built model, or throws `Rejected` or
 * `Unsupported`. `testCase` is the request's `case`, `model` is the model's bytes (null without a dialect), a feed is a
 * Map of tensors by name, and its outputs are a list of tensors. A tensor is `{elementType, shape, data}`, as in npz.js.
 */
export async function serve(backend, input, replies) {
  const reply = (message) => writeFileSync(replies, `${JSON.stringify(message)}\n`);
  for await (const line of linesOf(input)) {
    const request = JSON.parse(line);
    if (request.cmd === "start") reply({ protocol: 1, ...backend.describe() });
    else if (request.cmd === "run") reply({ seq: request.seq, ...(await answered(backend, request)) });
    else return;
  }
}

async function answered(backend, request) {
  let started = performance.now();
  const seconds = () => (performance.now() - started) / 1_000;
  try {
    const types = new Map(request.case.inputs.map((each) => [each.name, each.element_type]));
    const feeds = request.feeds.map((each) => tensorsOfNpz(readFileSync(join(request.dir, each.inputs)), types));
    const model = request.model === null ? null : readFileSync(join(request.dir, request.model));
    started = performance.now();
    const outputs = await backend.run(request.case, model, feeds);
    const spent = seconds();
    request.feeds.forEach((each, number) => writeFileSync(each.outputs, bytesOfNpz(outputs[number])));
    const said = outputs.map((each) => each.map((tensor) => tensor.elementType));
    return { status: "ok", seconds: spent, element_types: said };
  } catch (fault) {
    const message = String(fault?.message ?? fault).slice(0, LONGEST_MESSAGE);
    if (fault instanceof Rejected) return { status: "rejected", stage: fault.stage, message, seconds: seconds() };
    if (fault instanceof Unsupported) return { status: "unsupported", message, seconds: seconds() };
    return { status: "error", message, traceback: String(fault?.stack ?? fault).slice(0, 10 * LONGEST_MESSAGE) };
  }
}

/** The lines of a stream of bytes. Node's readline would also split at U+2028, which JSON may contain. */
async function* linesOf(stream) {
  let rest = [];
  for await (const chunk of stream) {
    let from = 0;
    for (let to = chunk.indexOf(NEWLINE); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, to)]).toString("utf8");
      rest = [];
      from = to + 1;
    }
    rest.push(chunk.subarray(from));
  }
}
