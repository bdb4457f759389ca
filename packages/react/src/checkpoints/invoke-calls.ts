/** Moldable's commands, through whatever function the host calls them with. */
import type {
  Checkpoint,
  CheckpointResult,
  CleanupResult,
  ConversationCalls,
  RestoreResult,
} from "./conversation-calls.ts";

/** Calls a command by its name, as a desktop shell's `invoke` does. */
export type Invoke = <Result>(command: string, args: Record<string, unknown>) => Promise<Result>;

/** The commands of one app. */
export function callsOver(invoke: Invoke, appId: string): ConversationCalls {
  return {
    list: async (conversationId, promptOf) => {
      const list = await invoke<Checkpoint[]>("list_checkpoints", { appId, conversationId });
      return list.map((each) => {
        const description = promptOf?.(each.messageId);
        return description === undefined ? each : { ...each, description };
      });
    },
    take: (conversationId, { messageId, appDir }) =>
      invoke<CheckpointResult>("create_checkpoint", { appId, appDir, conversationId, messageId }),
    restore: (conversationId, { messageId }) =>
      invoke<RestoreResult>("restore_checkpoint", { appId, conversationId, messageId }),
    cleanup: (conversationId, keepLastN) =>
      invoke<CleanupResult>("cleanup_checkpoints", { appId, conversationId, keepLastN }),
  };
}
