/** Addresses of the page: which view, of which project, with what chosen. */
import { useSyncExternalStore } from "react";

/** A view that is a word of the address. */
export type Named = "pending" | "threads" | "storage" | "settings";

const ALONE: readonly (string | undefined)[] = ["pending", "storage", "settings"];

function standsAlone(view: string | undefined): view is Exclude<Named, "threads"> {
  return ALONE.includes(view);
}

/** Where the page is. */
export type Place =
  | { readonly view: "projects" }
  | { readonly view: "timeline" | Exclude<Named, "threads">; readonly workspace: string }
  | { readonly view: "threads"; readonly workspace: string; readonly thread: string | undefined }
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

/** The address of the page, as it changes. */
export function useAddress(): { readonly place: Place; readonly query: URLSearchParams } {
  const text = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => location.pathname + location.search,
  );
  const url = new URL(text, location.origin);
  return { place: placeOf(url.pathname), query: url.searchParams };
}

function placeOf(path: string): Place {
  const [, root, workspace, view, from, to] = path.split("/").map(decodeURIComponent);
  if (root !== "w" || !workspace) return { view: "projects" };
  if (view === "compare" && from && to) return { view: "compare", workspace, from, to };
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
