/** What waits for a person, asked once for everything that shows it. */
import { useBelay, useLoaded, useOpenMerges, type Fix, type Merge } from "@belay/react";
import { createContext, useContext, useEffect } from "react";

/** Loops of fixes that stopped, and merges that wait for decisions or to be applied. */
export interface Needs {
  readonly fixes: readonly Fix[];
  readonly merges: readonly Merge[];
}

/** Where views find it. */
export const NeedsContext = createContext<Needs>({ fixes: [], merges: [] });

/** What waits, for a part below the frame. */
export function useNeeds(): Needs {
  return useContext(NeedsContext);
}

/** Asks what waits for a person. */
export function useAskedNeeds(version: number): Needs {
  const { client, workspace } = useBelay();
  const merges = useOpenMerges(version);
  const { value } = useLoaded(`fixes ${workspace} ${version} !`, () =>
    client.call("GET /api/fixes", { query: { workspace } }),
  );
  return { merges, fixes: (value?.fixes ?? []).filter(({ state }) => state === "escalated") };
}

/** The tab says how many things wait, in its title and by a dot on its icon. */
export function useTabName(name: string | undefined, { fixes, merges }: Needs): void {
  const waiting = fixes.length + merges.length;
  useEffect(() => {
    const title = name === undefined ? "Belay" : `${name} · Belay`;
    document.title = waiting === 0 ? title : `(${waiting}) ${title}`;
    const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
    const file = waiting === 0 ? "/icon.svg" : "/icon-needs-you.svg";
    if (icon !== null && icon.getAttribute("href") !== file) icon.setAttribute("href", file);
  }, [name, waiting]);
}
