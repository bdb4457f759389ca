/** AgentSmithy's versioning, over Belay. Synchronous, as its Python is. */
export {
  VersioningTracker,
  type CheckpointInfo,
  type LastRestore,
} from "./agentsmithy/versioning-tracker.ts";
export type { ChangedFile } from "./agentsmithy/changed-file.ts";
export {
  DialogHistory,
  Project,
  type Dialog,
  type DialogMessage,
  type DialogsIndex,
} from "./agentsmithy/project.ts";
export {
  EventFactory,
  type DoneEvent,
  type ErrorEvent,
  type FileEditEvent,
  type UserEvent,
} from "./agentsmithy/event-factory.ts";
export { VectorStoreManager, type FoundDocument } from "./agentsmithy/vector-store.ts";
