/** Changed files beside their diffs, folder by folder. */
import { useState, type ReactNode } from "react";
import { Icon, PathName } from "../parts/icon.tsx";
import { visible, WORDS } from "../words.ts";
import { fileId } from "./file-diff-card.tsx";
import { ChangedBy, FileCounts, StatusLetter } from "./file-list.tsx";
import type { ChangedFile } from "./files.ts";

/** Further files are found by the filter. */
const MOST_FILES = 500;

/** Changed files with a field to find some; choosing one scrolls to its card, or does what the host says. */
export function FileTree(props: {
  readonly files: readonly ChangedFile[];
  /** The path of the file that is in view. */
  readonly selected?: string | undefined;
  readonly className?: string;
  onSelect?(file: ChangedFile): void;
}): ReactNode {
  const { files, onSelect = scrollToCard } = props;
  const [filter, setFilter] = useState("");
  const shown = files.filter(({ path }) => path.toLowerCase().includes(filter.toLowerCase()));
  return (
    <nav className={`belay b-tree ${props.className ?? ""}`} aria-label="Files">
      <input
        className="b-field"
        type="search"
        placeholder="Filter files"
        aria-label="Filter files"
        value={filter}
        onKeyDown={(event) => event.stopPropagation()}
        onChange={(event) => setFilter(event.target.value)}
      />
      {foldersOf(shown.slice(0, MOST_FILES)).map(([folder, its]) => (
        <Folder key={folder} folder={folder} files={its} selected={props.selected} onSelect={onSelect} />
      ))}
      {shown.length > MOST_FILES ? (
        <p className="b-small b-muted">{WORDS.more(shown.length - MOST_FILES)}; the filter finds them</p>
      ) : null}
    </nav>
  );
}

/** Files by their folder, in the order of the files. */
function foldersOf(files: readonly ChangedFile[]): [folder: string, files: ChangedFile[]][] {
  const folders = new Map<string, ChangedFile[]>();
  for (const file of files) {
    const folder = file.path.slice(0, Math.max(0, file.path.lastIndexOf("/"))) || ".";
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  return [...folders];
}

function Folder(props: {
  readonly folder: string;
  readonly files: readonly ChangedFile[];
  readonly selected: string | undefined;
  onSelect(file: ChangedFile): void;
}): ReactNode {
  const { folder, files, selected } = props;
  return (
    <details open>
      <summary className="b-filerow b-folder">
        <Icon name="folder" small />
        <span className="b-mono b-cut">{visible(folder)}</span>
      </summary>
      {files.map((file) => (
        <button
          key={file.pathBase64 ?? file.path}
          type="button"
          className={file.type === "deleted" ? "b-filerow b-in-folder b-struck" : "b-filerow b-in-folder"}
          aria-current={file.path === selected ? "true" : undefined}
          onClick={() => props.onSelect(file)}
        >
          <StatusLetter type={file.type} />
          <span className="b-vh">{visible(folder)}</span>
          <PathName path={nameIn(file.path)} from={file.from === undefined ? undefined : nameIn(file.from)} />
          <span className="b-grow" />
          <ChangedBy file={file} />
          <FileCounts file={file} />
        </button>
      ))}
    </details>
  );
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function scrollToCard(file: ChangedFile): void {
  document.getElementById(fileId(file))?.scrollIntoView({ block: "start" });
}
