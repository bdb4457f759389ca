/** Slash commands and questions for chat programs. Importing this loads no screen. */
export {
  askEscalation,
  ESCALATION_QUESTION,
  escalationText,
  type Escalation,
  type EscalationAnswer,
  type EscalationHost,
  type ReviewIssue,
} from "../questions/escalation.ts";
export { runCheckpointCommand, SLASH_COMMAND_NAMES, type CommandContext } from "./run-checkpoint-command.ts";
export type { CommandResult } from "./scene.ts";
export type { ScreenName } from "./screens.ts";
