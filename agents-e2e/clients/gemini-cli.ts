import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { asShellCommand, type Client } from "../client.ts";
import type { ToolCall } from "../model-stub.ts";

const OPTIONS = "-m gemini-2.5-flash --approval-mode yolo --skip-trust -o stream-json";

export const geminiCli: Client = {
  agent: "gemini-cli",
  package: "@google/gemini-cli",
  version: "0.61.0",
  showsTrouble: true,
  toolCall: (step, project) => {
    switch (step.does) {
      case "read":
        return undefined;
      case "write":
        return { name: "write_file", input: { file_path: join(project, step.path), content: step.content } };
      case "edit":
        // its edit tools may not touch this file
        if (step.path === ".env") return shell(asShellCommand(step));
        return {
          name: "replace",
          input: {
            file_path: join(project, step.path),
            instruction: "Change one line",
            old_string: step.from,
            new_string: step.to,
          },
        };
      default:
        return shell(asShellCommand(step));
    }
  },
  prepare: ({ user }) => {
    mkdirSync(join(user, ".gemini"));
    const settings = { security: { auth: { selectedType: "gemini-api-key" } } };
    writeFileSync(join(user, ".gemini/settings.json"), JSON.stringify(settings, null, 2));
  },
  turn: ({ modules, prompt, continues, modelUrl }) => ({
    program: process.execPath,
    args: [
      join(modules, "@google/gemini-cli/bundle/gemini.js"),
      "-p",
      prompt,
      ...(continues ? ["--resume", "latest"] : []),
      ...OPTIONS.split(" "),
    ],
    // it would send loopback through a proxy as well
    environment: { GEMINI_API_KEY: "x", GOOGLE_GEMINI_BASE_URL: modelUrl, HTTP_PROXY: "", HTTPS_PROXY: "" },
  }),
};

function shell(command: string): ToolCall {
  return { name: "run_shell_command", input: { command, description: "Works on files" } };
}
