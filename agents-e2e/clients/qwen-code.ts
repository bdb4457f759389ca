import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asShellCommand, type Client } from "../client.ts";
import type { ToolCall } from "../model-stub.ts";

const OPTIONS = "--yolo --output-format stream-json";

export const qwenCode: Client = {
  agent: "qwen-code",
  package: "@qwen-code/qwen-code",
  version: "0.24.4",
  showsTrouble: false,
  toolCall: (step, project) => {
    switch (step.does) {
      case "read":
        return { name: "read_file", input: { file_path: join(project, step.path) } };
      case "write":
        return { name: "write_file", input: { file_path: join(project, step.path), content: step.content } };
      case "edit":
        return {
          name: "edit",
          input: { file_path: join(project, step.path), old_string: step.from, new_string: step.to },
        };
      default:
        return shell(asShellCommand(step));
    }
  },
  prepare: ({ user }) => {
    mkdirSync(join(user, ".qwen"));
    const settings = { security: { auth: { selectedType: "openai" } } };
    writeFileSync(join(user, ".qwen/settings.json"), JSON.stringify(settings, null, 2));
  },
  turn: ({ modules, prompt, continues, modelUrl }) => ({
    program: process.execPath,
    args: [
      join(modules, "@qwen-code/qwen-code/cli-entry.js"),
      "-p",
      prompt,
      ...(continues ? ["--continue"] : []),
      ...OPTIONS.split(" "),
    ],
    // it would send loopback through a proxy as well
    environment: {
      OPENAI_API_KEY: "x",
      OPENAI_BASE_URL: `${modelUrl}/v1`,
      OPENAI_MODEL: "stub-model",
      HTTP_PROXY: "",
      HTTPS_PROXY: "",
    },
  }),
};

function shell(command: string): ToolCall {
  return {
    name: "run_shell_command",
    input: { command, description: "Works on files", is_background: false },
  };
}
