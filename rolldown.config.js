/**
 * The command as a few files: importing a hundred modules one by one takes longer than most commands do.
 * The engine's two helpers are entries of their own, beside the command that starts them by file name.
 */
import { defineConfig } from "rolldown";

export default defineConfig({
  platform: "node",
  input: {
    main: "packages/cli/compiled/main.js",
    "pack-worker": "packages/engine/dist/worktree/pack-worker.js",
    "companion-process": "packages/engine/dist/worktree/companion-process.js",
  },
  output: { dir: "packages/cli/dist", format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js", cleanDir: true },
});
