/** The projects of the user, to go to another. */
import { Icon, useBelay, useLoaded, visible } from "@belay/react";
import { useRef, useState, type ReactNode } from "react";
import { go, timelinePath, viewPath } from "../address.ts";
import { PAGE } from "../words.ts";
import { nameOf } from "./project-name.ts";

/** All projects, asked for each time that the list is opened. */
function useWorkspaces(openings: number) {
  const { client } = useBelay();
  const { value } = useLoaded(openings === 0 ? null : `workspaces ${openings} !`, () =>
    client.call("GET /api/workspaces"),
  );
  return value?.workspaces ?? [];
}

/** The project's name; pressing it lists all of them. */
export function ProjectMenu({
  workspace,
  name,
}: {
  readonly workspace: string;
  readonly name: string;
}): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  const [openings, setOpenings] = useState(0);
  const workspaces = useWorkspaces(openings);
  return (
    <>
      <button
        type="button"
        className="b-brand b-plain"
        popoverTarget="projects"
        aria-label={`Project ${name}; all projects`}
      >
        <Logo />
        <span className="b-cut">{name}</span>
        <Icon name="down" small />
      </button>
      <div
        ref={list}
        id="projects"
        popover="auto"
        className="b-menu"
        role="group"
        aria-label="Projects"
        onToggle={({ newState }) => newState === "open" && setOpenings(openings + 1)}
      >
        <button
          type="button"
          className="b-menu-item"
          onClick={() => {
            list.current?.hidePopover();
            go(viewPath(workspace, "branches"));
          }}
        >
          <Icon name="branch" />
          {PAGE.branches}, forks and runs
        </button>
        {workspaces.map(({ id, path, open }) => (
          <button
            key={id}
            type="button"
            className="b-menu-item"
            aria-current={id === workspace ? "true" : undefined}
            onClick={() => {
              list.current?.hidePopover();
              go(timelinePath(id));
            }}
          >
            {open ? (
              <span className="b-live" role="img" aria-label="watched" />
            ) : (
              <span className="b-live b-off" />
            )}
            <span className="b-col">
              <span>{nameOf(path)}</span>
              <span className="b-tiny b-faint b-cut">{visible(path)}</span>
            </span>
          </button>
        ))}
      </div>
    </>
  );
}

/** The sign of Belay. */
export function Logo(): ReactNode {
  return (
    <svg className="b-logo" viewBox="0 0 22 22" aria-hidden="true">
      <rect width="22" height="22" rx="6.5" className="b-logo-back" />
      <path d="M7 4v14M7 11c0-4.5 8-4.5 8-.3S7 15 7 11" className="b-logo-rope" />
    </svg>
  );
}
