/** How the page is built: few files, names with hashes, no grammar beside those of the `highlights` backend. */
import { defineConfig, type Plugin } from "vite";

/** The diff view's other backend: 500 grammars and a second engine, for languages that `highlights` has as well. */
const UNUSED = /^shiki\/(?:langs|wasm|engine\/\w+)$|^@shikijs\/themes\//;

const withoutShiki = (): Plugin => ({
  name: "without-shiki",
  enforce: "pre",
  resolveId: (id) => (UNUSED.test(id) ? "\0without-shiki" : undefined),
  load: (id) =>
    id === "\0without-shiki"
      ? "export default {}; export const bundledLanguages = {}; export const createOnigurumaEngine = () => { throw new Error('not shipped'); }; export const createJavaScriptRegexEngine = createOnigurumaEngine;"
      : undefined,
});

export default defineConfig({
  root: import.meta.dirname,
  logLevel: "warn",
  plugins: [withoutShiki()],
  worker: { format: "es", plugins: () => [withoutShiki()] },
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
