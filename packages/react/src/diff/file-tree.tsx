/** Changed files beside their diffs, folder by folder; of any number only those in view are in the document. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { useId, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { Icon, PathName } from "../parts/icon.tsx";
import { visible } from "../words.ts";
import { fileId } from "./file-diff-card.tsx";
import { ChangedBy, FileCounts, StatusLetter } from "./file-list.tsx";
import type { ChangedFile } from "./files.ts";
import { treeMove, treeRows, type TreeRow } from "./tree-rows.ts";

/** What the tree shows and does. */
export interface FileTreeProps {
  readonly files: readonly ChangedFile[];
  /** The path of the file that is in view. */
  readonly selected?: string | undefined;
  readonly className?: string;
  /** Left out: the card of the file is scrolled to. */
  onSelect?(file: ChangedFile): void;
}

/** Changed files with a field to find some; choosing one scrolls to its card, or does what the host says. */
export function FileTree(props: FileTreeProps): ReactNode {
  const { files, className = "" } = props;
  const [filter, setFilter] = useState("");
  const shown = useMemo(
    () => files.filter(({ path }) => path.toLowerCase().includes(filter.toLowerCase())),
    [files, filter],
  );
  return (
    <nav className={`belay b-tree ${className}`} aria-label="Files">
      <input
        className="b-field"
        type="search"
        placeholder="Filter files"
        aria-label="Filter files"
        value={filter}
        onKeyDown={(event) => event.stopPropagation()}
        onChange={(event) => setFilter(event.target.value)}
      />
      <span className="b-vh" role="status">
        {filter === "" ? "" : `${shown.length.toLocaleString("en")} of ${files.length.toLocaleString("en")}`}
      </span>
      <Rows {...props} files={shown} />
    </nav>
  );
}

const ROW = 28;
const OVERSCAN = 8;

/** The tree itself: one stop for Tab, arrows inside it. */
function Rows({ files, selected, onSelect = scrollToCard }: FileTreeProps): ReactNode {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState(0);
  const rows = useMemo(() => treeRows(files, closed), [files, closed]);
  const at = Math.min(active, Math.max(0, rows.length - 1));
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: OVERSCAN,
  });
  const fold = (folder: string, isOpen: boolean) =>
    setClosed(isOpen ? closed.difference(new Set([folder])) : closed.union(new Set([folder])));
  const press = (index: number) => {
    setActive(index);
    const row = rows[index];
    if (row?.kind === "file") onSelect(row.file);
    if (row?.kind === "folder") fold(row.folder, !row.isOpen);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const move = treeMove(event.key, rows, at);
    if (move === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if ("press" in move) return press(move.press);
    if ("fold" in move) return fold(move.fold, move.isOpen);
    setActive(move.to);
    virtual.scrollToIndex(move.to);
  };
  return (
    <div
      ref={scroller}
      className="b-tree-rows"
      role="tree"
      aria-label="Changed files"
      tabIndex={0}
      aria-activedescendant={rows.length === 0 ? undefined : `${id}${at}`}
      onKeyDown={onKey}
    >
      <div role="presentation" className="b-placing" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => (
          <Row
            key={index}
            id={`${id}${index}`}
            row={rows[index]!}
            isActive={index === at}
            selected={selected}
            start={start}
            onPress={() => press(index)}
          />
        ))}
      </div>
    </div>
  );
}

function Row(props: {
  readonly id: string;
  readonly row: TreeRow;
  readonly isActive: boolean;
  readonly selected: string | undefined;
  readonly start: number;
  onPress(): void;
}): ReactNode {
  const { row, start } = props;
  const isFolder = row.kind === "folder";
  const isSelected = !isFolder && row.file.path === props.selected;
  const look = [
    "b-filerow b-placed",
    isFolder ? "b-folder" : "b-in-folder",
    !isFolder && row.file.type === "deleted" && "b-struck",
    props.isActive && "b-active",
  ];
  return (
    <div
      id={props.id}
      role="treeitem"
      className={look.filter(Boolean).join(" ")}
      style={{ transform: `translateY(${start}px)` }}
      aria-level={isFolder ? 1 : 2}
      aria-expanded={isFolder ? row.isOpen : undefined}
      aria-selected={isSelected}
      onClick={props.onPress}
    >
      {isFolder ? <FolderFacts {...row} /> : <FileFacts {...row} />}
    </div>
  );
}

function FolderFacts({ folder, isOpen, files }: Extract<TreeRow, { kind: "folder" }>): ReactNode {
  return (
    <>
      <Icon name={isOpen ? "folder" : "right"} small />
      <span className="b-mono b-cut">{visible(folder)}</span>
      {isOpen ? null : <span className="b-num b-faint">{files.toLocaleString("en")}</span>}
    </>
  );
}

function FileFacts({ folder, file }: Extract<TreeRow, { kind: "file" }>): ReactNode {
  return (
    <>
      <StatusLetter type={file.type} />
      <span className="b-vh">{visible(folder)}</span>
      <PathName path={nameIn(file.path)} from={file.from === undefined ? undefined : nameIn(file.from)} />
      <span className="b-grow" />
      <ChangedBy file={file} />
      <FileCounts file={file} />
    </>
  );
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function scrollToCard(file: ChangedFile): void {
  document.getElementById(fileId(file))?.scrollIntoView({ block: "start" });
}
