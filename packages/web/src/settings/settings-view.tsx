/** What causes checkpoints, how long they stay, the limits, the agents, this page, and the pages that are open. */
import { ago, useBelay, useLoaded, useToast, visible, useStatus, useThreads, useVersion } from "@belay/react";
import { useEffect, useState, type ReactNode } from "react";
import { Shell } from "../shell/shell.tsx";
import { PAGE } from "../words.ts";
import { AgentsCard } from "./agents-card.tsx";
import { Choice } from "./choice.tsx";
import { PageCard } from "./page-card.tsx";
import { PauseRow } from "./pause-row.tsx";
import { SETTINGS, type KnownSetting } from "./settings-words.ts";

interface Setting {
  readonly value: string | number;
  readonly source: string;
}

/** The view. Every change is saved at once. */
export function SettingsView(): ReactNode {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const version = useVersion();
  const [hookChanges, setHookChanges] = useState(0);
  const status = useStatus(version + hookChanges);
  const threads = useThreads(version);
  const [changes, setChanges] = useState(0);
  const { value } = useLoaded(`settings ${changes} !`, () => client.call("GET /api/settings"));
  const save = (key: string, next: string | null) =>
    void client.call("PUT /api/settings", { body: { key, value: next } }).then(
      () => setChanges(changes + 1),
      (error: unknown) => toast({ text: (error as Error).message, isFailure: true }),
    );
  return (
    <Shell
      workspace={workspace}
      status={status}
      threads={threads}
      view="settings"
      title={PAGE.settings}
      top={
        <>
          <span className="b-strong">{PAGE.settings}</span>
          <span className="b-small b-muted b-wide">{PAGE.settingsAbout}</span>
        </>
      }
    >
      <main className="b-page" tabIndex={0}>
        <div className="b-wrap b-narrow">
          {SETTINGS.map(({ words, settings }) => (
            <section key={words} className="b-card b-in" aria-label={words}>
              <h2>{words}</h2>
              {settings.map((known) => {
                if (known.key === "retention.policy")
                  return (
                    <Cards key={known.key} known={known} setting={value?.settings[known.key]} onSave={save} />
                  );
                const setting = value?.settings[known.key];
                return setting === undefined ? null : (
                  <Row key={known.key} known={known} setting={setting} onSave={save} />
                );
              })}
              {words === "Triggers" ? <PauseRow status={status} /> : null}
            </section>
          ))}
          <AgentsCard status={status} onChanged={() => setHookChanges(hookChanges + 1)} />
          <PageCard />
          <Pages />
        </div>
      </main>
    </Shell>
  );
}

interface RowProps {
  readonly known: KnownSetting;
  readonly setting: Setting;
  onSave(key: string, value: string | null): void;
}

function Row(props: RowProps): ReactNode {
  const { known, setting, onSave } = props;
  if (known.choices === undefined) return <Written {...props} />;
  return (
    <Choice
      words={known.words}
      about={<About {...props} />}
      value={String(setting.value)}
      choices={known.choices}
      onChange={(next) => onSave(known.key, next)}
    />
  );
}

/** A setting that is written in words or numbers. */
function Written(props: RowProps): ReactNode {
  const { known, setting, onSave } = props;
  const shown = settingText(known.key, setting.value);
  const [text, setText] = useState(shown);
  // what was saved is shown in the server's own words; the field stays, and the focus with it
  useEffect(() => setText(shown), [shown]);
  const save = () => text !== shown && onSave(known.key, text);
  return (
    <div className="b-way">
      <label className="b-strong" htmlFor={known.key}>
        {known.words}
      </label>
      <input
        id={known.key}
        className="b-field"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={save}
        onKeyDown={(event) => {
          if (event.key === "Enter") save();
          if (event.key === "Escape") setText(shown);
        }}
      />
      <p className="b-small b-muted">
        <About {...props} />
      </p>
    </div>
  );
}

/** What a setting does, and where its value comes from. */
function About({ known, setting, onSave }: RowProps): ReactNode {
  return (
    <>
      {known.about} <Source known={known} source={setting.source} onSave={onSave} />
    </>
  );
}

/** Where a value comes from, and the way back to the default. */
function Source(props: {
  readonly known: KnownSetting;
  readonly source: string;
  onSave(key: string, value: null): void;
}): ReactNode {
  const { known, source, onSave } = props;
  if (source === "default") return "Default.";
  return (
    <>
      From {source}.{" "}
      <button
        type="button"
        className="b-plain b-link"
        aria-label={`Default of ${known.words}`}
        onClick={(event) => {
          onSave(known.key, null);
          // the button goes with the value that it takes away
          event.currentTarget.closest("main")?.focus({ preventScroll: true });
        }}
      >
        Back to the default
      </button>
    </>
  );
}

/** The presets of retention, each with what it keeps. */
function Cards(props: {
  readonly known: KnownSetting;
  /** Undefined while it is not known. */
  readonly setting: Setting | undefined;
  onSave(key: string, value: string | null): void;
}): ReactNode {
  const { known, setting, onSave } = props;
  const chosen = String(setting?.value ?? "");
  return (
    <div className="b-presets" role="radiogroup" aria-label={known.words}>
      {known.choices?.map(([value, words, about]) => (
        <label key={value} className={value === chosen ? "b-preset b-on" : "b-preset"}>
          <span className="b-row">
            <input
              type="radio"
              className="b-radio"
              name={known.key}
              checked={value === chosen}
              onChange={() => onSave(known.key, value)}
            />
            <span className="b-strong">{words}</span>
          </span>
          <span className="b-small b-muted">{about}</span>
        </label>
      ))}
      {setting === undefined || setting.source === "default" ? null : (
        <p className="b-small b-muted">
          <Source known={known} source={setting.source} onSave={onSave} />
        </p>
      )}
    </div>
  );
}

const UNITS = [
  ["GiB", 1024 ** 3],
  ["MiB", 1024 ** 2],
  ["KiB", 1024],
] as const;

/** A number of bytes as people write it: `64MiB`. */
function settingText(key: string, value: string | number): string {
  if (typeof value !== "number" || !key.endsWith("Bytes")) return String(value);
  const unit = UNITS.find(([, bytes]) => value >= bytes && value % bytes === 0);
  return unit === undefined ? String(value) : `${value / unit[1]}${unit[0]}`;
}

/** The pages that are open, each of which can be ended from here. */
function Pages(): ReactNode {
  const { client } = useBelay();
  const [changes, setChanges] = useState(0);
  const { value } = useLoaded(`pages ${changes} !`, () => client.call("GET /api/pages"));
  return (
    <section className="b-card b-in" aria-label="Open pages">
      <h2>Open pages</h2>
      {(value?.pages ?? []).map((page) => (
        <div key={page.id} className="b-way">
          <span>
            Opened {ago(page.openedAt)}, used {ago(page.usedAt)}
            {page.current ? " · this page" : ""}
          </span>
          {page.current ? (
            <span />
          ) : (
            <button
              type="button"
              className="b-btn"
              aria-label={`End the page that was opened ${ago(page.openedAt)}`}
              onClick={() =>
                void client
                  .call("DELETE /api/pages/:id", { params: { id: page.id } })
                  .finally(() => setChanges(changes + 1))
              }
            >
              End
            </button>
          )}
          <p className="b-small b-faint b-mono">{visible(page.id)}</p>
        </div>
      ))}
    </section>
  );
}
