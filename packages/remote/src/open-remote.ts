/** A remote of a workspace, with everything that is done with it: the library's way in. */
import { receiveWorkspace, type Checkpoint, type Workspace } from "@belay/engine";
import type { LinkRequest } from "./share/make-share.ts";
import type { SharedLink } from "./share/share-facts.ts";
import { openShares, type SharedWithMembers } from "./share/shares.ts";
import { cloneLine, type CloneRequest, type ClonedWorkspace } from "./sync/clone-line.ts";
import type { RemoteHost } from "./sync/remote-host.ts";
import { openExchange, type RemoteExchange } from "./sync/remote.ts";

/** A remote that can be used. */
export interface OpenedRemote extends RemoteExchange {
  /** A new workspace in a directory: a line of this space, its files, and a line of its own. */
  clone(request: LineRequest): Promise<ClonedWorkspace>;
  /** Keeps a checkpoint for the members of the space, and sends it. */
  share(checkpoint: Checkpoint): Promise<SharedWithMembers>;
  /** Copies a checkpoint out of the space, for those who have the link. */
  shareByLink(request: LinkRequest): Promise<{ readonly link: string; readonly share: SharedLink }>;
}

/** Which line of the space, and where to; without a line, the only one there is. */
export type LineRequest = Pick<CloneRequest, "directory" | "line" | "checkpoint" | "mayReceive" | "progress">;

/** Opens a remote of a workspace; without a name, its only one. */
export function openRemote(workspace: Workspace, name: string | undefined, host: RemoteHost): OpenedRemote {
  const exchange = openExchange(workspace, name, host);
  const { entry } = exchange;
  const shares = openShares(workspace, entry.name, host);
  return {
    ...exchange,
    clone: (request) =>
      cloneLine({ ...request, url: entry.url, name: entry.name }, host, (fill) =>
        receiveWorkspace(request.directory, fill, {
          home: host.home,
          withFiles: request.checkpoint === undefined,
        }),
      ),
    share: (checkpoint) => shares.withMembers(checkpoint),
    shareByLink: (request) => shares.byLink(request),
  };
}
