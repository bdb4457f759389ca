/** Addresses of the page: which view, of which project, with what chosen. */
import type { ConflictViewProps, DecidablePlan } from "@belay/react";
import { useSyncExternalStore } from "react";

/** A view that is a word of the address. */
export type Named = "pending" | "threads" | "branches" | "storage" | "settings";

const ALONE: readonly (string | undefined)[] = ["pending", "branches", "storage", "settings"];

function standsAlone(view: string | undefined): view is Exclude<Named, "threads"> {
  return ALONE.includes(view);
}

/** Where the page is. */
export type Place =
  | { readonly view: "projects"; readonly wants?: "settings" }
  | { readonly view: "timeline" | Exclude<Named, "threads">; readonly workspace: string }
  | { readonly view: "threads"; readonly workspace: string; readonly thread: string | undefined }
  | { readonly view: "conflicts"; readonly workspace: string; readonly of: string }
  | { readonly view: "compare"; readonly workspace: string; readonly from: string; readonly to: string };

const listeners = new Set<() => void>();
addEventListener("popstate", () => changed());

function changed(): void {
  for (const listener of listeners) listener();
}

/** Goes to an address; `replace` leaves no step in the browser's history. */
export function go(path: string, { replace = false } = {}): void {
  if (path === location.pathname + location.search) return;
  if (replace) history.replaceState(null, "", path);
  else history.pushState(null, "", path);
  changed();
}

/** Where the page is, and what is chosen there. */
export interface Address {
  readonly place: Place;
  readonly query: URLSearchParams;
}

/** The address of the page as it is. */
export function addressNow(): Address {
  const url = new URL(location.href);
  return { place: placeOf(url.pathname), query: url.searchParams };
}

/** The address of the page, as it changes. */
export function useAddress(): Address {
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => location.pathname + location.search,
  );
  return addressNow();
}

function placeOf(path: string): Place {
  const [, root, workspace, view, from, to] = path.split("/").map(decodeURIComponent);
  if (root === "settings") return { view: "projects", wants: "settings" };
  if (root !== "w" || !workspace) return { view: "projects" };
  if (view === "compare" && from && to) return { view: "compare", workspace, from, to };
  if (view === "conflicts" && from) return { view, workspace, of: from };
  if (view === "threads") return { view, workspace, thread: from === "" ? undefined : from };
  return { view: standsAlone(view) ? view : "timeline", workspace };
}

/** The timeline's address. */
export function timelinePath(
  workspace: string,
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const words = new URLSearchParams(
    Object.entries(query).filter((entry): entry is [string, string] => !!entry[1]),
  );
  return `/w/${encodeURIComponent(workspace)}/${words.size > 0 ? `?${words}` : ""}`;
}

/** The address of a comparison. */
export function comparePath(workspace: string, from: string, to: string): string {
  return `/w/${[workspace, "compare", from, to].map(encodeURIComponent).join("/")}`;
}

/** The address of a view of a project. */
export function viewPath(workspace: string, view: Named): string {
  return `/w/${encodeURIComponent(workspace)}/${view}`;
}

/** The address of a conversation. */
export function threadPath(workspace: string, thread: string): string {
  return `${viewPath(workspace, "threads")}/${encodeURIComponent(thread)}`;
}

/** The address of the conflicts of a merge, by its id, or of a plan, by what was asked for. */
export function conflictsPath(workspace: string, of: string | DecidablePlan): string {
  const path = (name: string) => `/w/${[workspace, "conflicts", name].map(encodeURIComponent).join("/")}`;
  if (typeof of === "string") return path(of);
  const { kind, target, thread, count, paths = [], without = [] } = of;
  const words = new URLSearchParams([
    ...(target === undefined ? [] : [["target", target]]),
    ...(thread === undefined ? [] : [["thread", thread]]),
    ...(count === undefined ? [] : [["count", String(count)]]),
    ...paths.map((each) => ["path", each]),
    ...without.map((each) => ["without", each]),
  ]);
  return `${path(kind)}${words.size > 0 ? `?${words}` : ""}`;
}

const KINDS: readonly string[] = ["undo", "redo", "revert", "reset"];

/** What the address of a conflict view names. */
export function conflictsOf(of: string, query: URLSearchParams): ConflictViewProps["of"] {
  if (!KINDS.includes(of)) return { merge: of };
  const [target, thread, count] = ["target", "thread", "count"].map((name) => query.get(name) ?? undefined);
  const [paths, without] = [query.getAll("path"), query.getAll("without")];
  return {
    plan: {
      kind: of as DecidablePlan["kind"],
      ...(target !== undefined && { target }),
      ...(thread !== undefined && { thread }),
      ...(count !== undefined && { count: Number(count) }),
      ...(paths.length > 0 && { paths }),
      ...(without.length > 0 && { without }),
    },
  };
}
