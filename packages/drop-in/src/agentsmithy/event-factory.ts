/** The events that AgentSmithy sends to its pages. */

/** A user's message, and the checkpoint before it. */
export interface UserEvent {
  type: "user";
  content: string;
  checkpoint?: string;
  session?: string;
  dialog_id?: string;
}

/** A file changed: pages draw it again. */
export interface FileEditEvent {
  type: "file_edit";
  /** Absolute. */
  file: string;
  diff?: string | null;
  dialog_id?: string;
}

/** The answer is complete. */
export interface DoneEvent {
  type: "done";
  dialog_id?: string;
}

/** The answer failed. */
export interface ErrorEvent {
  type: "error";
  error: string;
  dialog_id?: string;
}

/** Makes events; what is left out is left out of the event. */
export const EventFactory = {
  user: (event: Omit<UserEvent, "type">): UserEvent => ({ type: "user", ...event }),
  file_edit: (event: Omit<FileEditEvent, "type">): FileEditEvent => ({ type: "file_edit", ...event }),
  done: (event: Omit<DoneEvent, "type"> = {}): DoneEvent => ({ type: "done", ...event }),
  error: (event: Omit<ErrorEvent, "type">): ErrorEvent => ({ type: "error", ...event }),
};
