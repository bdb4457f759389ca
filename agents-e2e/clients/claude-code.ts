import { join } from "node:path";
import { asShellCommand, type Client } from "../client.ts";

const PLATFORM = `${process.platform}-${process.arch}`;
const OPTIONS =
  "--model claude-sonnet-4-5 --permission-mode acceptEdits --allowedTools Bash,Write,Edit,Read " +
  "--output-format stream-json --verbose --include-hook-events";

export const claudeCode: Client = {
  agent: "claude-code",
  package: `@anthropic-ai/claude-code-${PLATFORM}`,
  version: "2.1.325",
  showsTrouble: true,
  toolCall: (step, project) => {
    switch (step.does) {
      case "read":
        return { name: "Read", input: { file_path: join(project, step.path) } };
      case "write":
        return { name: "Write", input: { file_path: join(project, step.path), content: step.content } };
      case "edit":
        return {
          name: "Edit",
          input: { file_path: join(project, step.path), old_string: step.from, new_string: step.to },
        };
      default:
        return { name: "Bash", input: { command: asShellCommand(step), description: "Works on files" } };
    }
  },
  turn: ({ modules, prompt, continues, modelUrl }) => ({
    program: join(modules, `@anthropic-ai/claude-code-${PLATFORM}`, "claude"),
    args: ["-p", prompt, ...(continues ? ["--continue"] : []), ...OPTIONS.split(" ")],
    environment: {
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: "sk-ant-stub",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
  }),
};
