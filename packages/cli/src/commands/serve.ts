import { ContractError } from "@belay/protocol/errors";
import { defineCommand } from "../call/command.ts";
import { portNumber } from "../call/number-option.ts";

export default defineCommand({
  usage: "serve [--port n] [--open]",
  about: [
    "Serves the API in the foreground until Ctrl-C, in place of the resident process.",
    "Programs find it at the address it prints and send the token with each request.",
  ].join("\n"),
  options: {
    port: { type: "string", value: "n", about: "the port to listen on; 0, the default, picks a free one" },
    open: { type: "boolean", about: "open the page in a browser" },
  },
  operands: { min: 0, max: 0 },
  examples: ["belay serve --port 7420"],
  run: async (call) => {
    const { ResidentProcess } = await import("../resident/resident-process.ts");
    const { runResident } = await import("../wiring/run-resident.ts");
    const { openPage } = await import("../command-parts/open-page.ts");
    const port = portNumber("--port", call.options.port);
    const other = new ResidentProcess(call.home);
    const running = other.facts();
    if (running?.foreground === true) throw alreadyServed(running.pid, running.url);
    await other.stop();
    const exit = await runResident(
      call,
      { ports: [port], foreground: true, directory: call.directory },
      (facts) => {
        const { url, token, pid } = facts;
        if (call.json) call.output.print(JSON.stringify({ url, token, pid }));
        else call.output.print(`Belay is served at ${url}\n  token: ${token}\nCtrl-C ends it.`);
        if (call.options.open === true) void openPage(call, { url });
      },
    );
    if (exit === undefined) throw alreadyServed(other.facts()?.pid, other.facts()?.url);
    return exit;
  },
});

function alreadyServed(pid: number | undefined, url: string | undefined): Error {
  return new ContractError(
    "RESIDENT_RUNNING",
    `Process ${pid} already serves Belay at ${url}. Nothing was changed.`,
  );
}
