// Standard output, kept for replies.

import { closeSync, openSync } from "node:fs";

/**
 * The real standard output, which belongs to the protocol alone; what others print there goes to standard error.
 *
 * Native code prints to descriptor 1 without asking Node.js, so the descriptor itself is made another. Windows has no
 * such paths: there the backend must keep quiet.
 */
export function ownOutput() {
  if (process.platform === "win32") return 1;
  const replies = openSync("/dev/fd/1", "a");
  closeSync(1);
  const opened = openSync("/dev/fd/2", "a"); // it is given the lowest number that is free
  if (opened !== 1) throw new Error(`standard error was opened as ${opened} where 1 is free`);
  return replies;
}
