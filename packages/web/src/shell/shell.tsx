/** The frame of every view: projects and views at the left, search and actions on top. */
import {
  agentColour,
  AgentBadge,
  agentName,
  ago,
  dayAndClock,
  gitWords,
  Icon,
  quantity,
  size,
  useBelay,
  useLiveState,
  useVersion,
  visible,
  WORDS,
  type LiveState,
  type Merge,
  type Status,
  type Thread,
} from "@belay/react";
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { conflictsPath, go, threadPath, timelinePath, viewPath, type Named } from "../address.ts";
import { ProjectMenu } from "./project-menu.tsx";
import { nameOf } from "./project-name.ts";
import { NeedsContext, useAskedNeeds, useTabName, type Needs } from "./needs.ts";
import { useNotices } from "./notices.ts";
import { useUnlessPressed } from "./use-unless-pressed.ts";
import { filesWaiting, usePendingCounts, type PendingCount } from "./pending-counts.ts";

/** What the frame shows. */
export interface ShellProps {
  readonly workspace: string;
  readonly status: Status | undefined;
  readonly threads: readonly Thread[];
  /** Threads whose agents work right now; left out where the view does not show them. */
  readonly working?: readonly string[];
  /** The thread that the view shows. */
  readonly thread?: string | undefined;
  /** Left out: the timeline, or a view that is none of the navigation's. */
  readonly view?: Named | "conflicts";
  /** The name of the view. */
  readonly title: string;
  /** Views that need the width show the side as a rail. */
  readonly isTight?: boolean;
  readonly top: ReactNode;
  readonly children: ReactNode;
}

const VIEWS = [
  { view: "pending", icon: "inbox", words: "Pending" },
  { view: "threads", icon: "chat", words: "Threads" },
  { view: "storage", icon: "disk", words: "Storage" },
  { view: "settings", icon: "set", words: "Settings" },
] as const;

/** The frame of the page: bar, strips, the view, dialogs. */
export function Shell(props: ShellProps): ReactNode {
  const { workspace, status, threads } = props;
  const version = useVersion();
  const needs = useAskedNeeds(version);
  useTabName(status && nameOf(status.path), needs);
  useNotices(status === undefined ? "Belay" : nameOf(status.path));
  const pending = usePendingCounts(threads, version);
  const waiting = threads.reduce((sum, { id }) => sum + filesWaiting(pending.get(id)), 0);
  return (
    <div className="b-frame">
      <Strips workspace={workspace} status={status} />
      <div className={props.isTight ? "b-app b-tight" : "b-app"}>
        <nav className="b-side" aria-label="Main">
          <ProjectMenu workspace={workspace} name={status === undefined ? "" : nameOf(status.path)} />
          <Link
            className="b-nav"
            title="Timeline"
            to={timelinePath(workspace)}
            isCurrent={!props.isTight && props.thread === undefined && props.view === undefined}
          >
            <Icon name="list" />
            <span className="b-hide">Timeline</span>
          </Link>
          {VIEWS.map(({ view, icon, words }) => (
            <Link
              key={view}
              className="b-nav"
              title={words}
              to={viewPath(workspace, view)}
              isCurrent={props.view === view}
            >
              <Icon name={icon} />
              <span className="b-hide">{words}</span>
              {view === "pending" && waiting > 0 ? (
                <span className="b-count b-hot">
                  {" "}
                  {waiting.toLocaleString("en")}
                  <span className="b-vh"> {waiting === 1 ? "file" : "files"} to approve</span>
                </span>
              ) : null}
              {view === "threads" && threads.length > 0 ? (
                <span className="b-count b-hide"> {threads.length.toLocaleString("en")}</span>
              ) : null}
            </Link>
          ))}
          <Conflicts {...props} merges={needs.merges} />
          {threads.length === 0 ? null : <h2>Threads</h2>}
          <div className="b-threads">
            {threads.slice(0, 30).map((thread) => (
              <ThreadLink key={thread.id} {...props} its={thread} pending={pending.get(thread.id)} />
            ))}
          </div>
          {status === undefined ? null : <Protection status={status} />}
        </nav>
        <header className="b-topbar">
          <h1 className="b-vh">{props.title}</h1>
          {props.top}
          <BranchButton workspace={workspace} status={status} />
        </header>
        <NeedsContext.Provider value={needs}>{props.children}</NeedsContext.Provider>
      </div>
    </div>
  );
}

/** A link inside the page. */
function Link(props: {
  readonly to: string;
  readonly className: string;
  readonly isCurrent: boolean;
  readonly title?: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <a
      href={props.to}
      className={props.className}
      title={props.title}
      aria-current={props.isCurrent ? "page" : undefined}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        go(props.to);
      }}
    >
      {props.children}
    </a>
  );
}

/** The branch that the files are on, and git's; it leads to the others. */
function BranchButton({ workspace, status }: Pick<ShellProps, "workspace" | "status">): ReactNode {
  if (status === undefined) return null;
  const { git } = status;
  const branch = visible(status.branch);
  const told = git ? `Branch ${branch}; git: ${gitWords(git)}` : `Branch ${branch}`;
  return (
    <button
      type="button"
      className="b-btn b-quiet b-narrow-hide b-branch-here"
      aria-label={told}
      title={told}
      onClick={() => go(viewPath(workspace, "branches"))}
    >
      <Icon name="branch" />
      <span className="b-wide b-cut b-short">{branch}</span>
      {git?.branch ? <span className="b-wide b-muted b-cut b-short">git {visible(git.branch)}</span> : null}
    </button>
  );
}

/** The way to what waits for a decision; there only while something does. */
function Conflicts({ workspace, view, merges }: ShellProps & Pick<Needs, "merges">): ReactNode {
  const isOpen = (conflict: Merge["conflicts"][number]) => conflict.state === "open";
  const first = merges.find(({ conflicts }) => conflicts.some(isOpen)) ?? merges[0];
  if (first === undefined) return null;
  const open = merges.flatMap(({ conflicts }) => conflicts.filter(isOpen)).length;
  return (
    <Link
      className="b-nav"
      title="Conflicts"
      to={conflictsPath(workspace, first.id)}
      isCurrent={view === "conflicts"}
    >
      <Icon name="warn" />
      <span className="b-hide">Conflicts</span>
      <span className="b-count b-hot"> {open.toLocaleString("en")}</span>
    </Link>
  );
}

function ThreadLink({
  its,
  pending,
  workspace,
  working = [],
  thread,
}: ShellProps & { readonly its: Thread; readonly pending: PendingCount | undefined }): ReactNode {
  const isWorking = working.includes(its.id);
  const files = filesWaiting(pending);
  const isApproved = pending === 0 && its.lastApprovedAt !== null;
  const name = visible(its.title ?? its.externalId);
  const state = isWorking
    ? "working"
    : typeof pending === "object"
      ? `pending not known: ${visible(pending.problem)}`
      : files > 0
        ? `${files.toLocaleString("en")} pending`
        : isApproved
          ? "approved"
          : ago(its.updatedAt);
  return (
    <Link
      className={`b-thread ${agentColour(its.agent)}`}
      to={threadPath(workspace, its.id)}
      isCurrent={thread === its.id}
      title={name}
    >
      <AgentBadge agent={its.agent} />
      <span className="b-cut">{name}</span>
      {isWorking ? (
        <span className="b-live" role="img" aria-label="working" />
      ) : isApproved ? (
        <span className="b-ok">
          <Icon name="check" small />
        </span>
      ) : (
        <span className="b-cnt" aria-hidden="true">
          {files > 0 ? files.toLocaleString("en") : ""}
        </span>
      )}
      <span className="b-sub">
        {agentName(its.agent)} · {state}
      </span>
    </Link>
  );
}

function Protection({ status }: { readonly status: Status }): ReactNode {
  const { watching, disk, paused } = status;
  const isSound = watching.state === "live" && paused === null;
  const words = paused !== null ? "Paused" : "Protected";
  const more =
    paused !== null ? "" : watching.state === "live" ? "live" : (watching.reason ?? "looks when asked");
  return (
    <div className="b-foot">
      <div className={isSound ? "b-row b-keep b-ok" : "b-row b-keep b-warn"} title={`${words} · ${more}`}>
        <Icon name="shield" />
        <span className="b-hide b-cut">
          <span className="b-strong">{words}</span>{" "}
          <span className="b-muted">{more === "" ? "" : `· ${more}`}</span>
        </span>
      </div>
      {status.sync.map(({ remote, state, queued }) => (
        <div
          key={remote}
          className={`b-small b-cut b-hide ${state === "synced" || state === "queued" ? "b-muted" : "b-warn"}`}
        >
          {visible(remote)}: {queued > 0 ? `${queued.toLocaleString("en")} queued` : state}
        </div>
      ))}
      <div className="b-small b-muted">
        {size(disk.bytes)} of {size(disk.capBytes)}
        <progress className="b-bar" aria-label="Space used" value={disk.bytes} max={disk.capBytes} />
      </div>
    </div>
  );
}

/** [R2164] Strips come and go between two presses: what is being pressed would move away from under the pointer. */
function Strips(props: Pick<ShellProps, "workspace" | "status">): ReactNode {
  const { workspace, status } = props;
  const live = useLiveState();
  const shown = useUnlessPressed(useMemo(() => ({ workspace, status, live }), [workspace, status, live]));
  return (
    <>
      <Strip state={shown.live} />
      <Trouble {...shown} />
    </>
  );
}

/** What the server says of captures that fail or are paused. */
interface Obstacle {
  readonly code: string;
  readonly detail: string;
  readonly hint: string;
}

function isStoreFull({ disk }: Status): boolean {
  return disk.fullSince !== null || disk.bytes >= disk.capBytes;
}

/** ", since 10:53"; what the newest checkpoint holds is safe, whatever came after it is not. */
function sinceWords({ disk, newest }: Status): string {
  const since = disk.fullSince ?? newest?.createdAt;
  return since === undefined ? "" : `, since ${dayAndClock(since).replace(/^today at /, "")}`;
}

/** Lasting trouble, with one button that leads to the way out. */
function Trouble({ workspace, status }: Pick<ShellProps, "workspace" | "status">): ReactNode {
  const { obstacles = [] } = (status?.capture ?? {}) as { readonly obstacles?: readonly Obstacle[] };
  const isFull = status !== undefined && isStoreFull(status);
  const failing = obstacles.find(({ code }) => code === "STORE_FAILS" || code === "CAPTURES_FAIL");
  const paused = obstacles.find(({ code }) => code === "PAUSED");
  if (isFull)
    return (
      <div className="b-strip b-bad" role="status">
        <Icon name="disk" />
        <span>
          <span className="b-strong">The store is full: new checkpoints fail.</span> Agents go on, unprotected
          {sinceWords(status)}.
        </span>
        <button type="button" className="b-btn b-s" onClick={() => go(viewPath(workspace, "storage"))}>
          Make room…
        </button>
        <button type="button" className="b-btn b-s" onClick={() => go(viewPath(workspace, "settings"))}>
          Raise the cap…
        </button>
      </div>
    );
  const trouble = failing ?? paused;
  if (trouble === undefined) return <Damage workspace={workspace} status={status} />;
  return (
    <div className={trouble === failing ? "b-strip b-bad" : "b-strip b-warn"} role="status">
      <Icon name="warn" />
      <span>
        <span className="b-strong">{visible(trouble.detail)}</span> {visible(trouble.hint)}
      </span>
      <button
        type="button"
        className="b-btn b-s"
        onClick={() => go(viewPath(workspace, trouble === failing ? "storage" : "settings"))}
      >
        {trouble === failing ? "Storage" : "Settings"}
      </button>
    </div>
  );
}

/** What the last verification found; everything else goes on. */
function Damage({ workspace, status }: Pick<ShellProps, "workspace" | "status">): ReactNode {
  const damage = status?.damage;
  if (!damage) return null;
  const { checkpoints, sound } = damage;
  return (
    <div className="b-strip b-bad" role="status">
      <Icon name="warn" />
      <span>
        <span className="b-strong">{quantity(checkpoints, "checkpoint")} cannot be restored in full.</span>{" "}
        The other {sound.toLocaleString("en")} {sound === 1 ? "is" : "are"} sound. Your files are untouched.
      </span>
      <button
        type="button"
        className="b-btn b-s"
        onClick={() => go(timelinePath(workspace, { q: "has:damage" }))}
      >
        Show which
      </button>
    </div>
  );
}

/** Says when what is shown is old, and when the next try is. */
function Strip({ state }: { readonly state: LiveState }): ReactNode {
  const { live } = useBelay();
  const [now, setNow] = useState(Date.now());
  const isWaiting = state.kind === "waiting";
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [isWaiting]);
  if (state.kind !== "waiting") return null;
  const seconds = Math.max(0, Math.ceil((state.retryAt - now) / 1000));
  return (
    <div className="b-strip b-warn" role="status">
      <Icon name="warn" />
      <span>
        {WORDS.notConnected(state.since)} Next try in {quantity(seconds, "second")}. Belay itself may still be
        running: checkpoints do not need this page.
      </span>
      <button type="button" className="b-btn b-s" onClick={() => live.tryNow()}>
        Try now
      </button>
    </div>
  );
}
