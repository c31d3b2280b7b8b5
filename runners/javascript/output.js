// Standard output, kept for replies.

import { closeSync, openSync } from "node:fs";

/**
 * The descriptor of the real standard output, which belongs to the protocol alone; what others print there goes to
 * standard error.
 *
 * Native code prints to descriptor 1 without asking Node.js, so the descriptor itself is made another. Where it cannot
 * be opened again (on Windows, or where it is a socket) it is 1 itself, and the backend must keep quiet.
 */
export function ownOutput() {
  let replies;
  try {
    closeSync(openSync("/dev/fd/2", "a"));
    replies = openSync("/dev/fd/1", "a");
  } catch {
    return 1;
  }
  closeSync(1);
  openSync("/dev/fd/2", "a"); // it is given the lowest number that is free, which is 1
  return replies;
}
