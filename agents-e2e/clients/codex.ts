import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client, Step } from "../client.ts";
import type { ToolCall } from "../model-stub.ts";

/** In use the user trusts the hooks once, by hand: Belay does not do it for them. */
const OPTIONS = "--dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust";

export const codex: Client = {
  agent: "codex",
  package: "@openai/codex",
  version: "0.166.0",
  showsTrouble: false,
  toolCall: (step) => {
    switch (step.does) {
      case "read":
        return undefined;
      case "shell":
        return { name: "exec_command", input: { cmd: step.command }, hookName: "Bash" };
      default:
        return patch(step);
    }
  },
  prepare: ({ user }, modelUrl) => {
    mkdirSync(join(user, ".codex"));
    const provider = { name: "stub", base_url: `${modelUrl}/v1`, wire_api: "responses", env_key: "STUB_KEY" };
    const lines = Object.entries(provider).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
    const config = ['model = "gpt-5.5"', 'model_provider = "stub"', "[model_providers.stub]", ...lines];
    writeFileSync(join(user, ".codex/config.toml"), `${config.join("\n")}\n`);
  },
  turn: ({ modules, prompt, continues }) => ({
    program: process.execPath,
    args: [
      join(modules, "@openai/codex/bin/codex.js"),
      "exec",
      ...(continues ? ["resume", "--last"] : []),
      ...OPTIONS.split(" "),
      prompt,
    ],
    environment: { STUB_KEY: "x" },
  }),
};

function patch(step: Exclude<Step, { does: "read" | "shell" }>): ToolCall {
  const input = ["*** Begin Patch", ...patchLines(step), "*** End Patch", ""].join("\n");
  return { name: "apply_patch", input };
}

function patchLines(step: Exclude<Step, { does: "read" | "shell" }>): string[] {
  switch (step.does) {
    case "write":
      return [
        `*** Add File: ${step.path}`,
        ...step.content
          .trimEnd()
          .split("\n")
          .map((line) => `+${line}`),
      ];
    case "edit":
      return [`*** Update File: ${step.path}`, "@@", `-${step.from}`, `+${step.to}`];
    case "delete":
      return [`*** Delete File: ${step.path}`];
    default:
      return [`*** Update File: ${step.path}`, `*** Move to: ${step.to}`, "@@", "-moved", "+moved"];
  }
}
