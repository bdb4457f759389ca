/** A chat that reads its lines with readline and opens the menu as a screen; what it reads it prints. */
import { createInterface } from "node:readline/promises";
import { BelayClient } from "@belay/protocol/client";
import { runMenu } from "../../dist/index.js";
import { runCheckpointCommand } from "../../dist/slash-commands/index.js";

const { BELAY_URL: url, BELAY_TOKEN: token, PROJECT: workspace } = process.env;
const client = new BelayClient(async ({ method, path, body }) => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const answer = await fetch(url + path, { method, headers, body });
  return { status: answer.status, body: await answer.text() };
});
const connection = {
  client,
  by: "resident",
  // oxlint-disable-next-line require-yield -- nothing is told here; the screens ask
  async *events(_workspace, signal) {
    await new Promise((done) => void signal.addEventListener("abort", done));
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
const place = {
  workspace,
  name: "project",
  clock: Date.now,
  expectsResident: false,
  connect: () => connection,
};
const options = { environment: process.env, ascii: false, colour: true, mouse: false };

const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: "> " });
terminal.prompt();
for await (const line of terminal) {
  console.log(`said: ${line}`);
  await runCheckpointCommand(line, {
    client,
    write: console.log,
    ask: null,
    openScreen: () => runMenu(place, options),
  });
  terminal.prompt();
}
