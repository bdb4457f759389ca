/** The resident process and what its clients need to find it. */
export { createLocalApp, type LocalApp, type LocalAppOptions } from "./resident/local-app.ts";
export type { Extension } from "./resident/create-app.ts";
export { startResident, type Resident, type ResidentOptions } from "./resident/resident.ts";
export type { RunCommand, WorkProgress } from "./hosting/background-work.ts";
export type { WorkspaceHost } from "./hosting/workspace-host.ts";
export type { DeliveredEvent, HookService } from "./http/serve-hooks.ts";
