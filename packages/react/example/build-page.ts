/** Builds the example's page as any host would: with Vite, from the built package. */
import { leanDiffView } from "@belay/react/vite";
import { join } from "node:path";
import { build } from "vite";

/** Builds into a directory. `react`: another version of React, by the directory that holds `react` and `react-dom`. */
export async function buildPage(directory: string, react?: string): Promise<void> {
  const alias =
    react === undefined
      ? {}
      : {
          react: join(react, "react"),
          "react-dom": join(react, "react-dom"),
          scheduler: join(react, "scheduler"),
        };
  await build({
    configFile: false,
    root: import.meta.dirname,
    logLevel: "warn",
    resolve: { alias, dedupe: ["react", "react-dom"] },
    plugins: [leanDiffView("page")],
    worker: { format: "es", plugins: () => [leanDiffView("worker")] },
    build: {
      outDir: directory,
      emptyOutDir: true,
      target: "es2023",
      reportCompressedSize: false,
      chunkSizeWarningLimit: 5000,
      rolldownOptions: {
        checks: { bundlerTimings: false },
        onLog: (level, log, handle) => log.code !== "MODULE_LEVEL_DIRECTIVE" && handle(level, log),
      },
    },
  });
}
