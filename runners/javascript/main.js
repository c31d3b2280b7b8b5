#!/usr/bin/env node
// The harness, started with `node main.js`; docs/protocol.md defines its messages.

import { ownOutput } from "./output.js";

const replies = ownOutput(); // before the backend is loaded, which may print

async function loaded() {
  try {
    const [{ serve }, { OnnxRuntime }] = await Promise.all([import("./protocol.js"), import("./backend.js")]);
    return { serve, backend: new OnnxRuntime() };
  } catch (fault) {
    const hint = fault.code === "ERR_MODULE_NOT_FOUND" ? ` Run \`npm install\` in ${import.meta.dirname}.` : "";
    console.error(`The backend cannot be loaded: ${fault.message.split("\n")[0]}.${hint}`);
    process.exit(1);
  }
}

const { serve, backend } = await loaded();
await serve(backend, process.stdin, replies);
process.exit(0);
