// Standard output, reserved for replies.

import { closeSync, openSync } from "node:fs";

/**
 * The descriptor of the real standard output, reserved for the protocol; all other output goes to standard error.
 *
 * Native code prints directly to descriptor 1, so that descriptor is redirected. If it cannot be opened again (on
 * Windows, or if it is a socket), the result is descriptor 1 itself, and the backend must not print.
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
  openSync("/dev/fd/2", "a"); // gets the lowest free number, which is 1
  return replies;
}
