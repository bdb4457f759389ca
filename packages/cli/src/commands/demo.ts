import { setTimeout as pause } from "node:timers/promises";
import { defineCommand, type Call } from "../call/command.ts";
import { playScene, type PlayedScene } from "../demo/play-scene.ts";
import { SCENES } from "../demo/scenes.ts";
import { createThrowAwayProject, type ThrowAwayProject } from "../demo/throw-away-project.ts";
import { EXIT } from "@belay/protocol/errors";

const OPTIONS = {
  fast: { type: "boolean", about: "without pauses" },
  keep: { type: "boolean", about: "keep its project, and say how to open the page on it" },
} as const;

type DemoCall = Call<typeof OPTIONS>;

/** Long enough to read a scene, short enough for 20 seconds in all. */
const PAUSE_MS = 1300;

export default defineCommand({
  usage: "demo [--fast] [--keep]",
  about: "A 20-second tour on a throw-away project: real commands, real output, nothing of yours is touched.",
  options: OPTIONS,
  operands: { min: 0, max: 0 },
  examples: ["belay demo --fast", "belay demo --keep"],
  run: async (call) => {
    const isKept = call.options.keep === true;
    using project = createThrowAwayProject({ isKept });
    const cleanUp = () => {
      project[Symbol.dispose]();
      process.exit(130);
    };
    process.once("SIGINT", cleanUp).once("SIGTERM", cleanUp);
    const played = await play(call, project);
    const isWhole = played.length === SCENES.length && played.every(({ exitCode }) => exitCode === EXIT.done);
    const kept = isKept ? { directory: project.directory, home: project.home } : {};
    if (call.json) call.output.json({ ok: isWhole, scenes: played, ...kept });
    else call.output.print(farewell(call, isWhole ? project : undefined));
    return isWhole ? EXIT.done : EXIT.failed;
  },
});

async function play(call: DemoCall, project: ThrowAwayProject): Promise<PlayedScene[]> {
  const { output } = call;
  const pauseMs = output.isTerminal && call.options.fast !== true && !call.json ? PAUSE_MS : 0;
  const played: PlayedScene[] = [];
  for (const scene of SCENES) {
    if (!call.json) output.print(`${played.length === 0 ? "" : "\n"}${output.style.bold(scene.say)}`);
    if (!call.json) output.print(output.style.cyan(`$ belay ${scene.command.map(quoted).join(" ")}`));
    const result = await playScene(scene, project, { captured: call.json });
    played.push(result);
    if (result.exitCode !== EXIT.done) break;
    await pause(pauseMs);
  }
  return played;
}

function quoted(word: string): string {
  return word.includes(" ") ? `"${word}"` : word;
}

function farewell({ output, options }: DemoCall, project: ThrowAwayProject | undefined): string {
  if (project === undefined)
    return `\n${output.style.red("The tour stopped here.")} \`belay doctor\` may say why.`;
  const next = "`belay init` in a project of yours, then `belay run -- <your agent>`.";
  const arrow = output.style.dim("→");
  if (options.keep !== true) return `\nThat was the tour; its project is deleted.\n${arrow} ${next}`;
  // inside `npm start` the command is not on the path yet
  const belay = process.env["npm_lifecycle_event"] === undefined ? "belay" : "npx belay";
  return [
    `\nThat was the tour. Its project stays in ${project.directory}.`,
    `${arrow} ${next}`,
    `${arrow} See the tour in your browser: ${output.style.cyan(`${belay} --home ${project.home} -C ${project.directory} ui`)}`,
  ].join("\n");
}
