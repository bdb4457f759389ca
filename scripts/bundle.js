/**
 * Makes the command out of a few files: importing a hundred modules one by one takes longer than most
 * commands do, and importing Node's own modules as ES modules loads more of them than anybody asked for:
 * hence CommonJS. The engine's workers are entries of their own, beside the command that starts them by
 * file name.
 */
import { writeFileSync } from "node:fs";
import { build } from "rolldown";

await build({
  platform: "node",
  input: {
    main: "packages/cli/compiled/main.js",
    "pack-worker": "packages/engine/dist/worktree/pack-worker.js",
    "second-look-worker": "packages/engine/dist/worktree/second-look-worker.js",
  },
  output: {
    dir: "packages/cli/dist",
    format: "cjs",
    entryFileNames: "[name].js",
    // the engine's front door is a file called dist/index.js
    chunkFileNames: ({ name }) => (name === "dist" ? "engine-[hash].js" : "[name]-[hash].js"),
    cleanDir: true,
  },
});

writeFileSync("packages/cli/dist/package.json", `{ "type": "commonjs" }\n`);
