/** Checkpoints that were captured elsewhere: by another program, or on another machine. */
import type { BytePath } from "./byte-path.ts";
import type {
  AgentFacts,
  Checkpoint,
  CheckpointKind,
  CheckpointPhase,
  ConversationFacts,
  GitState,
} from "./checkpoint.ts";
import type { MessageRequest } from "./conversation.ts";
import type { GapReason } from "./entry.ts";
import type { CheckpointId, ThreadId } from "./ids.ts";
import type { Session, SessionName } from "./session.ts";

/** A file as another program saved it, or a path whose content it did not save. */
export type ImportedFile =
  | {
      readonly path: BytePath;
      readonly kind: "file" | "symlink";
      readonly mode: number;
      /** Of a symbolic link, its target. */
      readonly content: Buffer;
    }
  | { readonly path: BytePath; readonly kind: "gap"; readonly reason: GapReason; readonly size: number };

/** A checkpoint that another program made. */
export interface ImportRequest {
  /** Which program made it, such as "moldable". */
  readonly origin: string;
  /** What it is called there. Importing a name of an origin again changes nothing. */
  readonly alias: string;
  readonly thread?: ThreadId;
  readonly session?: SessionName;
  readonly kind: CheckpointKind;
  readonly phase?: CheckpointPhase;
  readonly description: string;
  readonly name?: string;
  readonly note?: string;
  /** A tag that another checkpoint has stays there, and is reported. */
  readonly tags?: readonly string[];
  /** When it was made, there. */
  readonly createdAt: number;
  readonly messageId?: string;
  readonly messageIndex?: number;
  readonly toolUseId?: string;
  readonly tool?: string;
  /** The checkpoint before it: its id here, or what it is called in the same origin. */
  readonly parent?: CheckpointId | { readonly alias: string };
  readonly agent?: AgentFacts;
  readonly conversation?: ConversationFacts;
  readonly git?: GitState;
  readonly files: Iterable<ImportedFile>;
  /** Every path of which the program knew whether it existed: a restore deletes none but these. */
  readonly covers: readonly BytePath[];
}

/** What an import brought. */
export interface Imported {
  /** One for each request, in their order; those that were there already are among them. */
  readonly checkpoints: readonly Checkpoint[];
  /** How many of them were there already. */
  readonly alreadyThere: number;
  /** Tags that stayed on the checkpoints that had them, and names that no checkpoint can have. */
  readonly leftOut: readonly {
    readonly tag: string;
    readonly checkpoint: CheckpointId;
    readonly reason: string;
  }[];
  /** New contents of files, and their bytes. */
  readonly files: number;
  readonly bytes: number;
}

/** A message of an imported conversation. */
export interface ImportedMessage extends MessageRequest {
  readonly createdAt: number;
  readonly session?: SessionName;
  /** What the checkpoint before it is called in the same origin. */
  readonly checkpoint?: string;
}

/** A session of an imported conversation; its states by what they are called in the same origin. */
export interface ImportedSession extends Pick<
  Session,
  "name" | "status" | "createdAt" | "closedAt" | "message"
> {
  readonly base: string | null;
  readonly approved: string | null;
}

/** A whole conversation that another program kept. */
export interface ThreadImport {
  readonly origin: string;
  readonly agent: string;
  readonly externalId: string;
  readonly title: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly checkpoints: Iterable<Omit<ImportRequest, "origin" | "thread">>;
  readonly messages: readonly ImportedMessage[];
  /** In their order; the last one is active. None: there is one session. */
  readonly sessions: readonly ImportedSession[];
}

/** What the import of a conversation brought. */
export interface ImportedThread extends Imported {
  readonly thread: ThreadId;
  /** How many messages are new. */
  readonly messages: number;
}
