/** What hooks print: every answer an adapter can give has one of the known forms, and none of them grants anything. */
import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { AGENT_IDS } from "../src/events/agent-id.ts";
import { loadAgent } from "../src/adapters/find-adapter.ts";
import { isAnswer, POSIX_ANSWER_FORM } from "../src/hooks/answer-form.ts";

const TEXT = 'a "quoted" \\ path\nü → 漢 {"permission":"allow"} \u0007';
const EVENTS = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "beforeSubmitPrompt", "BeforeAgent"];
const REPLIES = [
  {},
  { context: TEXT },
  { warning: TEXT },
  { context: TEXT, warning: TEXT },
  { output: TEXT },
  { output: "" },
];
const REFUSED = [
  "",
  " {}",
  "{} {}",
  "null",
  "[]",
  '{"permission":"allow"}',
  '{"decision":"approve"}',
  '{"decision":"block"}',
  '{"continue":false}',
  '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}',
  '{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"x","permissionDecision":"allow"}}',
  '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}',
  '{"systemMessage":"x"',
  '{"systemMessage":"x","decision":"allow"}',
  '{"systemMessage":"x\\","decision":"allow","reason":"y"}',
  '{"systemMessage":{"permission":"allow"}}',
  '{"context":"a\nb"}',
];

function posixTakes(answer: string): boolean {
  const script = "LC_ALL=C; [[ $1 =~ $2 ]] && printf yes || printf no";
  return (
    execFileSync("/bin/bash", ["-c", script, "x", answer, POSIX_ANSWER_FORM], { encoding: "utf8" }) === "yes"
  );
}

describe("[R143] answers", () => {
  test.each(AGENT_IDS)("of %s have a known form, for TypeScript and for the compiled hook", async (id) => {
    const adapter = await loadAgent(id);
    for (const hook_event_name of EVENTS)
      for (const reply of REPLIES) {
        const answer = adapter.answer({ hook_event_name }, reply);
        expect([isAnswer(answer), posixTakes(answer)], answer).toEqual([true, true]);
      }
  });

  test.each(REFUSED)("are not: %s", (answer) => {
    expect([isAnswer(answer), posixTakes(answer)]).toEqual([false, false]);
  });
});
