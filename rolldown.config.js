/**
 * The command as a few files: importing a hundred modules one by one takes longer than most commands do.
 * The engine's worker is an entry of its own, beside the command that starts it by file name.
 */
import { defineConfig } from "rolldown";

export default defineConfig({
  platform: "node",
  logLevel: "warn",
  input: {
    main: "packages/cli/compiled/main.js",
    "pack-worker": "packages/engine/dist/worktree/pack-worker.js",
  },
  output: { dir: "packages/cli/dist", format: "esm", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js", cleanDir: true },
});
