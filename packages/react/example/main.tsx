/** The host's page: the chat at the left, the app and Belay's parts at the right. */
import {
  BelayProvider,
  CheckpointDialog,
  createClient,
  DiffView,
  openPage,
  PendingPanel,
  StoragePanel,
  takeCode,
  Timeline,
  useThreads,
  useVersion,
  type BrowserClient,
} from "@belay/react";
import { StrictMode, useEffect, useState, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { Chat } from "./chat.tsx";
import { Plain } from "./plain.tsx";

// before anything else: the code must not stay in the address
const code = takeCode();

const PARTS = ["App", "Timeline", "Changes", "Pending", "Storage"] as const;

function Host({ client, app }: { readonly client: BrowserClient; readonly app: string }): ReactNode {
  const [restores, setRestores] = useState(0);
  const [part, setPart] = useState<(typeof PARTS)[number]>("App");
  const [hasFocus, setFocus] = useState(true);
  const [isKeeping, setKeeping] = useState(false);
  return (
    <BelayProvider client={client} workspace={app}>
      <div className="host">
        <div className="host-column">
          <h1>A chat with checkpoints</h1>
          <p>
            The agent knows <kbd>write file words</kbd>, <kbd>delete file</kbd> and <kbd>fail</kbd>;{" "}
            <kbd>;</kbd> goes between two of them.
          </p>
          <label>
            <input type="checkbox" checked={hasFocus} onChange={() => setFocus(!hasFocus)} /> The app is in
            focus
          </label>
          <Chat app={hasFocus ? app : null} onRestored={() => setRestores((before) => before + 1)} />
        </div>
        <div className="host-column">
          <div>
            {PARTS.map((each) => (
              <button key={each} type="button" aria-pressed={part === each} onClick={() => setPart(each)}>
                {each}
              </button>
            ))}
            <button type="button" onClick={() => setKeeping(true)}>
              Keep this state…
            </button>
          </div>
          <div className="host-part">
            {part === "App" ? <App version={restores} /> : null}
            {part === "Timeline" ? <Timeline className="host-timeline" /> : null}
            {part === "Changes" ? <Changes /> : null}
            {part === "Pending" ? <Pending /> : null}
            {part === "Storage" ? <StoragePanel /> : null}
          </div>
        </div>
      </div>
      {isKeeping ? <CheckpointDialog onClose={() => setKeeping(false)} /> : null}
    </BelayProvider>
  );
}

/** The app that the chat is about: its files. It shows itself again when something was restored, not by itself. */
function App({ version }: { readonly version: number }): ReactNode {
  const [files, setFiles] = useState<Readonly<Record<string, string>>>({});
  useEffect(() => {
    void fetch("/files").then(async (answer) => setFiles((await answer.json()) as Record<string, string>));
  }, [version]);
  return (
    <section aria-label="The app">
      <h2>The app, shown {version + 1} times</h2>
      <ul>
        {Object.entries(files).map(([path, text]) => (
          <li key={path}>
            {path}: {text}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Changes(): ReactNode {
  const version = useVersion();
  const first = useThreads(version)[0]?.initialCheckpoint ?? null;
  return <DiffView from={first} to="disk" version={version} layout="unified" />;
}

function Pending(): ReactNode {
  const thread = useThreads(useVersion())[0];
  return thread === undefined ? <p>No conversation yet.</p> : <PendingPanel thread={thread.id} />;
}

async function open(): Promise<ReactNode> {
  if (location.pathname === "/plain") return <Plain />;
  const page = await openPage(code);
  if ("ended" in page) return <p>Open the address that the example prints. {page.ended}</p>;
  const { app } = (await (await fetch("/app")).json()) as { app: string };
  return <Host client={createClient({ key: page.key })} app={app} />;
}

const root = createRoot(document.getElementById("chat")!);
void open().then((page) => root.render(<StrictMode>{page}</StrictMode>));
