/** How the page is built: few files, names with hashes, the diff view without what it does not use. */
import { leanDiffView } from "@belay/react/vite";
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  logLevel: "warn",
  plugins: [leanDiffView("page")],
  worker: { format: "es", plugins: () => [leanDiffView("worker")] },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      checks: { bundlerTimings: false },
      onLog: (level, log, handle) => log.code !== "MODULE_LEVEL_DIRECTIVE" && handle(level, log),
    },
  },
});
