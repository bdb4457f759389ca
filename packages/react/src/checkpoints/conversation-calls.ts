/** What a chat asks of the checkpoints of its conversations: Belay's routes answer, or the host's own commands. */

/** The state of the files before a message. */
export interface Checkpoint {
  readonly id: string;
  readonly messageId: string;
  readonly createdAt: string;
  readonly fileCount: number;
  readonly totalBytes: number;
  /** Whether the answer to the message changed a file: each is compared with the next, the last with the disk. */
  readonly hasChanges: boolean;
  /** What the checkpoint is called: the message's words, where Belay was told them. */
  readonly description?: string;
  /** Belay's id of the conversation. */
  readonly thread?: string;
  /** The files that going back would change, where the host knows them. */
  readonly files?: readonly { readonly path: string }[];
}

/** A checkpoint that was just taken. */
export interface CheckpointResult {
  readonly id: string;
  readonly messageId: string;
  readonly fileCount: number;
  readonly totalBytes: number;
  /** Files that are new or changed since the checkpoint before. */
  readonly blobsCreated: number;
  /** Files whose content the checkpoint before has already. */
  readonly blobsReused: number;
}

/** What going back did. */
export interface RestoreResult {
  readonly filesRestored: number;
  readonly filesDeleted: number;
  readonly bytesWritten: number;
}

/** What a clean-up did. Content stays for a day, so that what was dropped can be brought back: nothing is freed at once. */
export interface CleanupResult {
  readonly snapshotsDeleted: number;
  readonly blobsDeleted: number;
  readonly bytesFreed: number;
}

/** The words of a message. */
export type PromptOf = (messageId: string) => string | undefined;

/** A message that is about to go out. */
export interface OutgoingMessage {
  readonly messageId: string;
  readonly prompt: string | undefined;
  readonly appDir: string | undefined;
}

/** What the hook asks for, from either. */
export interface ConversationCalls {
  /** Oldest first. */
  list(conversation: string, promptOf: PromptOf | undefined): Promise<Checkpoint[]>;
  take(conversation: string, message: OutgoingMessage): Promise<CheckpointResult | null>;
  restore(conversation: string, checkpoint: Checkpoint): Promise<RestoreResult>;
  cleanup(conversation: string, keepLast: number): Promise<CleanupResult>;
}
