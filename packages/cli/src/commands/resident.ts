import { defineCommand } from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";

/** Internal: `belay start` starts this. */
export default defineCommand({
  usage: "resident",
  about: "The resident process itself, in the background. `belay start` starts it.",
  options: {
    open: {
      type: "string",
      value: "dir",
      about: "a directory whose next command should find its workspace open",
    },
  },
  operands: { min: 0, max: 0 },
  run: async (call) => {
    const { ResidentProcess } = await import("../resident/resident-process.ts");
    const { runResident } = await import("../wiring/run-resident.ts");
    const { readBuild } = await import("../version.ts");
    const other = new ResidentProcess(call.home);
    if ((other.facts()?.version ?? readBuild()) !== readBuild()) await other.stop();
    const ports = [(await configuredPort(call.home)) || other.lastPort, 0];
    const exit = await runResident(
      call,
      { ports, foreground: false, open: call.options.open },
      () => undefined,
    );
    return exit ?? EXIT.done;
  },
});

/** Settings that cannot be read keep no process from starting: commands report them. */
async function configuredPort(home: string): Promise<number> {
  const { readSettings } = await import("@belay/engine");
  try {
    return readSettings(home)["ui.port"];
  } catch {
    return 0;
  }
}
