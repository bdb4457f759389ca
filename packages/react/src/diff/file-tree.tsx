/** Changed files beside their diffs. */
import { useState, type ReactNode } from "react";
import { PathName } from "../parts/icon.tsx";
import { fileId } from "./file-diff-card.tsx";
import { FileCounts, StatusLetter } from "./file-list.tsx";
import type { ChangedFile } from "./files.ts";

/** Further files are found by the filter. */
const MOST_FILES = 500;

/** Changed files with a field to find some; choosing one scrolls to its card, or does what the host says. */
export function FileTree(props: {
  readonly files: readonly ChangedFile[];
  onSelect?(file: ChangedFile): void;
}): ReactNode {
  const { files, onSelect = scrollToCard } = props;
  const [filter, setFilter] = useState("");
  const shown = files.filter(({ path }) => path.toLowerCase().includes(filter.toLowerCase()));
  return (
    <nav className="b-tree" aria-label="Files">
      <input
        className="b-field"
        type="search"
        placeholder="Filter files"
        aria-label="Filter files"
        value={filter}
        onKeyDown={(event) => event.stopPropagation()}
        onChange={(event) => setFilter(event.target.value)}
      />
      {shown.slice(0, MOST_FILES).map((file) => (
        <button key={file.path} type="button" className="b-filerow" onClick={() => onSelect(file)}>
          <StatusLetter type={file.type} />
          <PathName path={file.path} from={file.from} />
          <span className="b-grow" />
          <FileCounts file={file} />
        </button>
      ))}
    </nav>
  );
}

function scrollToCard(file: ChangedFile): void {
  document.getElementById(fileId(file))?.scrollIntoView({ block: "start" });
}
