/**
 * Makes the command out of a few files: importing a hundred modules one by one takes longer than most
 * commands do. The engine's worker is an entry of its own, beside the command that starts it by file name.
 */
import { build } from "rolldown";

await build({
  platform: "node",
  input: {
    main: "packages/cli/compiled/main.js",
    "pack-worker": "packages/engine/dist/worktree/pack-worker.js",
  },
  output: {
    dir: "packages/cli/dist",
    format: "esm",
    entryFileNames: "[name].js",
    // the engine's front door is a file called dist/index.js
    chunkFileNames: ({ name }) => (name === "dist" ? "engine-[hash].js" : "[name]-[hash].js"),
    cleanDir: true,
  },
});
