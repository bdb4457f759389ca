/** Two versions of an image, side by side or one over the other. SVG too is shown as an image, never as markup. */
import { useEffect, useState, type CSSProperties, type ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import { size, visible } from "../words.ts";
import { blobPath, type ChangedFile, type Pair } from "./files.ts";
import type { FileDiffAnswer } from "./patch.ts";

type Side = NonNullable<FileDiffAnswer["before"]>;

/** Both versions, each with its dimensions and size. */
export function ImagePair(props: {
  readonly pair: Pair;
  readonly file: ChangedFile;
  readonly diff: FileDiffAnswer;
}): ReactNode {
  const { pair, file, diff } = props;
  const [way, setWay] = useState<"beside" | "swipe">("beside");
  const [share, setShare] = useState(50);
  const hasBoth = diff.before !== null && diff.after !== null;
  return (
    <>
      {hasBoth ? (
        <div className="b-hunk">
          <div className="b-seg" role="group" aria-label="How both images are shown">
            <button type="button" aria-pressed={way === "beside"} onClick={() => setWay("beside")}>
              Side by side
            </button>
            <button type="button" aria-pressed={way === "swipe"} onClick={() => setWay("swipe")}>
              Swipe
            </button>
          </div>
          {way === "swipe" ? (
            <input
              type="range"
              className="b-grow"
              min={0}
              max={100}
              value={share}
              aria-label="How much of the older image is shown"
              onChange={(event) => setShare(event.target.valueAsNumber)}
            />
          ) : null}
        </div>
      ) : null}
      <div
        className={way === "swipe" && hasBoth ? "b-duo b-swipe" : "b-duo"}
        style={{ "--share": `${share}%` } as CSSProperties}
      >
        <Version words="before" state={pair.from} file={file} side={diff.before} />
        <Version words="after" state={pair.to} file={file} side={diff.after} />
      </div>
    </>
  );
}

function Version(props: {
  readonly words: string;
  readonly state: string;
  readonly file: ChangedFile;
  readonly side: Side | null;
}): ReactNode {
  const { words, state, file, side } = props;
  const { client, workspace } = useBelay();
  const [address, setAddress] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const path = side === null ? undefined : blobPath(workspace, state, file);
  useEffect(() => {
    if (path === undefined) return;
    let made: string | undefined;
    let isGone = false;
    void client.bytes(path).then(
      async (bytes) => {
        if (isGone) return;
        made = URL.createObjectURL(new Blob([await bytes.arrayBuffer()], { type: typeOf(file.path, side) }));
        setAddress(made);
      },
      (error: unknown) => setProblem((error as Error).message),
    );
    return () => {
      isGone = true;
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [client, path]);
  const facts =
    side === null
      ? "not there"
      : [side.image && `${side.image.width} × ${side.image.height}`, size(side.size)];
  return (
    <figure>
      {address === undefined ? (
        <span className="b-nothing">{problem}</span>
      ) : (
        <img src={address} alt={`${visible(file.path)}, ${words}`} />
      )}
      <figcaption>{[words, ...[facts].flat().filter(Boolean)].join(" · ")}</figcaption>
    </figure>
  );
}

function typeOf(path: string, side: Side | null): string {
  return side?.image === undefined
    ? /\.svg$/i.test(path)
      ? "image/svg+xml"
      : "application/octet-stream"
    : `image/${side.image.format}`;
}
