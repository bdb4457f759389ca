import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asShellCommand, type Client } from "../client.ts";

const PACKAGE = `opencode-${process.platform}-${process.arch}`;

export const opencode: Client = {
  agent: "opencode",
  package: PACKAGE,
  version: "1.18.33",
  showsTrouble: false,
  toolCall: (step, project) => {
    switch (step.does) {
      case "read":
        return { name: "read", input: { filePath: join(project, step.path) } };
      case "write":
        return { name: "write", input: { filePath: join(project, step.path), content: step.content } };
      case "edit":
        return {
          name: "edit",
          input: { filePath: join(project, step.path), oldString: step.from, newString: step.to },
        };
      default:
        return { name: "bash", input: { command: asShellCommand(step), description: "Works on files" } };
    }
  },
  prepare: ({ user }, modelUrl) => {
    const model = { tool_call: true, limit: { context: 100_000, output: 1000 } };
    const stub = {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL: `${modelUrl}/v1`, apiKey: "x" },
      models: { "stub-model": model },
    };
    const config = { model: "stub/stub-model", permission: "allow", provider: { stub } };
    mkdirSync(join(user, ".config/opencode"), { recursive: true });
    writeFileSync(join(user, ".config/opencode/opencode.json"), JSON.stringify(config, null, 2));
  },
  turn: ({ modules, prompt, continues, modelUrl }) => ({
    program: join(modules, PACKAGE, "bin/opencode"),
    // words of their own: it puts an argument with spaces into quotes
    args: ["run", "--format", "json", ...(continues ? ["--continue"] : []), ...prompt.split(" ")],
    environment: {
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      // it looks for packages at every start: being told that there are none is quicker than having no network
      NPM_CONFIG_REGISTRY: modelUrl,
    },
  }),
};
