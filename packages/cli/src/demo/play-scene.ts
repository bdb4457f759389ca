/** Runs one command of the tour as a process, exactly as a person would. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import type { Scene } from "./scenes.ts";
import type { ThrowAwayProject } from "./throw-away-project.ts";

/** The same command that plays the tour. */
const LAUNCHER = process.argv[1]!;

/** A scene that was played. */
export interface PlayedScene {
  readonly command: string;
  readonly exitCode: number;
  /** What it printed; empty when it printed for the audience. */
  readonly output: string;
}

/** Plays one scene of the demo. */
export async function playScene(
  scene: Scene,
  project: ThrowAwayProject,
  { captured }: { captured: boolean },
): Promise<PlayedScene> {
  const child = spawn(process.execPath, [LAUNCHER, ...scene.command], {
    cwd: project.directory,
    // a process that stays would outlive the home that the tour throws away
    env: { ...process.env, BELAY_HOME: project.home, BELAY_RESIDENT: "off" },
    stdio: ["ignore", captured ? "pipe" : "inherit", captured ? "ignore" : "inherit"],
  });
  const [exitCode, output] = await Promise.all([
    new Promise<number>((resolve, reject) =>
      child.once("error", reject).once("close", (code) => resolve(code ?? 1)),
    ),
    child.stdout === null ? "" : text(child.stdout),
  ]);
  return { command: `belay ${scene.command.join(" ")}`, exitCode, output };
}
