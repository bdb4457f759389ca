/**
 * Makes the command out of a few files: importing a hundred modules one by one takes longer than most
 * commands do, and importing Node's own modules as ES modules loads more of them than anybody asked for:
 * hence CommonJS. The engine's workers are entries of their own, beside the command that starts them by
 * file name.
 */
import { writeFileSync } from "node:fs";
import { build } from "rolldown";

/** What every command loads, and a hook, which comes before every step of an agent: each file more would cost it a millisecond. */
const START = [
  /cli[/]compiled[/](?:main|command|command-line|command-table|errors|nearest|version)[.]js$/,
  /cli[/]compiled[/]output[/](?:belay-at|error-text|output|quantity|style|visible)[.]js$/,
  /cli[/]compiled[/](?:commands[/]hook|agents[/](?:answer-in-time|hook-environment)|resident[/](?:ask-resident|resident-process))[.]js$/,
  /server[/]dist[/]resident[/](?:exclusive-lock|run-directory|socket-transport)[.]js$/,
  /server[/]dist[/]resident[.]js$/,
  /protocol[/]dist[/](?:client|command-text|error-table|errors|exit-code|redact)[.]js$/,
];

await build({
  platform: "node",
  preserveEntrySignatures: "allow-extension",
  input: {
    main: "packages/cli/compiled/main.js",
    "pack-worker": "packages/engine/dist/capture/pack-worker.js",
  },
  output: {
    dir: "packages/cli/dist",
    format: "cjs",
    entryFileNames: "[name].js",
    // the engine's front door is a file called dist/index.js
    chunkFileNames: ({ name }) => (name === "dist" ? "engine-[hash].js" : "[name]-[hash].js"),
    cleanDir: true,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: "start", test: (id) => START.some((part) => part.test(id)) }],
    },
  },
});

writeFileSync("packages/cli/dist/package.json", `{ "type": "commonjs" }\n`);
