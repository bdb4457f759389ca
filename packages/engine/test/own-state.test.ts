/** Belay's own state, and that of the programs it takes the place of, is no part of what it captures. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { openWorkspace } from "../src/index.ts";
import { inProject } from "./support/project.ts";

const STATE = [
  ".agentsmithy/dialogs/index.json",
  ".agentsmithy/rag/chroma_db/data",
  ".mimir/context/conversations/c/messages.jsonl",
  ".codebuddy/versions/versions.json",
];
const SETTINGS = [".mimir/config.yml", ".codebuddy/settings.json"];

test(
  "[A47] the state of the programs that Belay replaces is left out, their settings are not; nor is Belay's store",
  inProject({ "a.txt": "a" }, async (project) => {
    for (const path of [...STATE, ...SETTINGS]) project.write(path, "x");
    await using workspace = await openWorkspace(project.root, { home: join(project.root, "belay-home") });
    const captured = async () => {
      const paths: string[] = [];
      for await (const { path, kind } of workspace.files("@"))
        if (kind !== "directory") paths.push(String(path));
      return paths;
    };
    expect(await captured()).toEqual([".codebuddy/settings.json", ".mimir/config.yml", "a.txt"]);
    for (const path of STATE) project.write(path, "changed");
    expect((await workspace.checkpoint()).unchanged).toBe(true);
    project.write("a.txt", "b");
    await workspace.restoreTo("1");
    expect(STATE.map((path) => project.read(path))).toEqual(STATE.map(() => "changed"));
  }),
);
