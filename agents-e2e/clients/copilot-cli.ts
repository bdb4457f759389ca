import { dirname, join } from "node:path";
import { asShellCommand, type Client } from "../client.ts";
import type { ToolCall } from "../model-stub.ts";

const OPTIONS = "--allow-all-tools --allow-all-paths --no-auto-update --output-format json";

export const copilotCli: Client = {
  agent: "copilot-cli",
  package: "@github/copilot",
  version: "1.0.102",
  showsTrouble: false,
  isMute: true,
  toolCall: (step, project) => {
    switch (step.does) {
      case "read":
        return { name: "view", input: { path: join(project, step.path) } };
      case "write":
        return [
          // its tool makes no directories
          ...(step.path.includes("/") ? [shell(`mkdir -p ${dirname(step.path)}`)] : []),
          {
            name: "create",
            input: { path: join(project, step.path), file_text: step.content },
            hookName: "Write",
          },
        ];
      case "edit":
        return {
          name: "edit",
          input: { path: join(project, step.path), old_str: step.from, new_str: step.to },
          hookName: "Edit",
        };
      default:
        return shell(asShellCommand(step));
    }
  },
  turn: ({ modules, prompt, continues, modelUrl }) => ({
    program: process.execPath,
    args: [
      join(modules, "@github/copilot/npm-loader.js"),
      "-p",
      prompt,
      ...(continues ? ["--continue"] : []),
      ...OPTIONS.split(" "),
    ],
    environment: {
      COPILOT_OFFLINE: "true",
      COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
      // a key of a few letters would be cut out of everything it prints
      COPILOT_PROVIDER_API_KEY: "stub-key-that-is-not-a-key-0000000000",
      COPILOT_MODEL: "gpt-4.1",
    },
  }),
};

function shell(command: string): ToolCall {
  return { name: "bash", input: { command, description: "Works on files" }, hookName: "Bash" };
}
