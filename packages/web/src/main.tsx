/** The page: gets its key, then shows the view that its address names. */
import {
  askFirstRows,
  BelayProvider,
  createClient,
  endedWords,
  forgetKey,
  openPage,
  takeCode,
  useLiveState,
  type BrowserClient,
  type DecidablePlan,
  type PageKey,
} from "@belay/react";
import { ClientError } from "@belay/protocol/client";
import { StrictMode, useEffect, useMemo, useState, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import {
  addressNow,
  comparePath,
  conflictsPath,
  go,
  timelinePath,
  useAddress,
  viewPath,
  type Place,
} from "./address.ts";
import { BranchesView } from "./branches/branches-view.tsx";
import { preference } from "./preferences.ts";
import { historyFilter, type RowMode } from "./views/history-filter.ts";
import { PendingView } from "./pending/pending-view.tsx";
import { SettingsView } from "./settings/settings-view.tsx";
import { StorageView } from "./storage/storage-view.tsx";
import { ThreadsView } from "./threads/threads-view.tsx";
import { CompareView } from "./views/compare-view.tsx";
import { ConflictsView } from "./views/conflicts-view.tsx";
import { Ended, NoAnswerHere, NoProject } from "./views/states.tsx";
import { TimelineView } from "./views/timeline-view.tsx";

// before anything else: the code must not stay in the address
const code = takeCode();

function Page({ page }: { readonly page: PageKey }): ReactNode {
  const key = "key" in page ? page.key : undefined;
  const client = useMemo(() => (key === undefined ? undefined : createClient({ key })), [key]);
  const { place, query } = useAddress();
  if (client === undefined) return <Ended reason={"ended" in page ? page.ended : ""} />;
  if (place.view === "projects") return <Projects client={client} wants={place.wants} />;
  return (
    <BelayProvider
      key={place.workspace}
      client={client}
      workspace={place.workspace}
      compare={(from, to) => go(comparePath(place.workspace, from, to))}
      decide={(plan) => go(conflictsPath(place.workspace, plan as DecidablePlan))}
    >
      <WhileOpen>
        <View place={place} query={query} />
      </WhileOpen>
    </BelayProvider>
  );
}

function View({ place, query }: { readonly place: Place; readonly query: URLSearchParams }): ReactNode {
  switch (place.view) {
    case "compare":
      return <CompareView from={place.from} to={place.to} file={query.get("file")} />;
    case "conflicts":
      return <ConflictsView key={place.of} of={place.of} query={query} />;
    case "pending":
      return <PendingView />;
    case "threads":
      return <ThreadsView key={place.thread} thread={place.thread} />;
    case "branches":
      return <BranchesView />;
    case "storage":
      return <StorageView />;
    case "settings":
      return <SettingsView />;
    default:
      return <TimelineView query={query} />;
  }
}

/** When the server does not know the key any more, nothing of the page can go on. */
function WhileOpen({ children }: { readonly children: ReactNode }): ReactNode {
  const state = useLiveState();
  useEffect(() => {
    if (state.kind === "ended") forgetKey();
  }, [state.kind]);
  return state.kind === "ended" ? <Ended reason={state.message} /> : children;
}

/** Goes to the project that was used last; says what to type where there is none. */
function Projects(props: {
  readonly client: BrowserClient;
  /** A view to open there; defaults to the timeline. */
  readonly wants: "settings" | undefined;
}): ReactNode {
  const { client, wants } = props;
  const [problem, setProblem] = useState<{ isEnded: boolean; message: string }>();
  const [isEmpty, setEmpty] = useState(false);
  useEffect(() => {
    client.call("GET /api/workspaces").then(
      ({ workspaces }) => {
        const first = workspaces.find(({ open }) => open) ?? workspaces[0];
        if (first === undefined) setEmpty(true);
        else go(wants === undefined ? timelinePath(first.id) : viewPath(first.id, wants), { replace: true });
      },
      (error: unknown) => {
        // [R1932] a key that the server did not refuse is good for another try
        const isEnded = error instanceof ClientError && error.status === 401;
        if (isEnded) forgetKey();
        setProblem({ isEnded, message: isEnded ? endedWords(error) : (error as Error).message });
      },
    );
  }, [client, wants]);
  if (problem !== undefined)
    return problem.isEnded ? <Ended reason={problem.message} /> : <NoAnswerHere message={problem.message} />;
  return isEmpty ? <NoProject /> : null;
}

/** [R1726] The rows are what the reader waits for: nothing is drawn or asked before them. */
function askEarly(page: PageKey): void {
  const { place, query } = addressNow();
  if (!("key" in page) || place.view !== "timeline") return;
  const filter = historyFilter(query, preference<RowMode>("rows", "turns"));
  askFirstRows(createClient({ key: page.key }), place.workspace, filter);
}

const root = createRoot(document.getElementById("page")!);
void openPage(code).then((page) => {
  askEarly(page);
  root.render(
    <StrictMode>
      <Page page={page} />
    </StrictMode>,
  );
});
