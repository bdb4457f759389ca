"""AgentSmithy's versioning over Belay: the same classes and results, through the resident process.

One file, standard library only, Python 3.10 or newer. Put it beside your code and change the import:

    from belay_agentsmithy import VersioningTracker, Project, EventFactory, VectorStoreManager

The resident process is found by `run/resident.json` in Belay's home ($BELAY_HOME, else ~/.belay) and started by
`belay start` when none answers. A project that is not protected is protected when something is first stored.
$BELAY_COMMAND names the command, if it is not `belay` in the PATH.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = [
    "BelayError",
    "CheckpointInfo",
    "CheckpointNotFound",
    "DialogHistory",
    "EventFactory",
    "Document",
    "Project",
    "VectorStoreManager",
    "VersioningTracker",
]

DEFAULT_DIALOG = "default"
START_SECONDS = 30
ANSWER_SECONDS = 600


class BelayError(Exception):
    """What Belay refused to do: its code, what happened and what is untouched, and the facts."""

    def __init__(self, code: str, message: str, facts: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.facts = facts or {}

    def __str__(self) -> str:
        return self.message


class CheckpointNotFound(BelayError, KeyError):
    """There is no checkpoint of that id in this dialog."""


@dataclass
class CheckpointInfo:
    """A checkpoint, and what could not be read for it."""

    commit_id: str
    message: str
    not_captured: list[dict[str, str]] = field(default_factory=list)


class _Server:
    """The resident process of a home. Every call finds it again: it may have been started anew meanwhile."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = Path(os.environ.get("BELAY_HOME") or Path.home() / ".belay")

    def call(self, method: str, path: str, body: Any = None, query: dict[str, str] | None = None) -> Any:
        """One request for this project; it is protected first if it is not."""
        try:
            return self._send(method, path, body, query)
        except BelayError as error:
            if error.code != "WORKSPACE_NOT_FOUND":
                raise
        self._belay("-C", str(self.root), "init", "--no-agents", "--yes")
        return self._send(method, path, body, query)

    def is_protected(self) -> bool:
        """Whether the project is protected; nothing is stored by the question."""
        try:
            self._send("GET", "/api/dialogs", None, None)
            return True
        except BelayError as error:
            if error.code == "WORKSPACE_NOT_FOUND":
                return False
            raise

    def _send(self, method: str, path: str, body: Any, query: dict[str, str] | None) -> Any:
        text = urllib.parse.urlencode({"workspace": str(self.root), **(query or {})})
        data = None if method == "GET" else json.dumps(body if body is not None else {}).encode()
        facts = self._facts()
        for attempt in range(2):
            request = urllib.request.Request(f"{facts['url']}{path}?{text}", data=data, method=method)
            request.add_header("Authorization", f"Bearer {facts['token']}")
            if data is not None:
                request.add_header("Content-Type", "application/json")
            try:
                with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
                    return json.load(answer)
            except urllib.error.HTTPError as error:
                raise _error_of(error) from None
            except urllib.error.URLError as error:
                # only a connection that was refused is tried again: nothing was done by it
                if attempt == 1 or not isinstance(error.reason, ConnectionRefusedError):
                    raise BelayError("RESIDENT_GONE", f"Belay does not answer: {error.reason}") from error
                facts = self._start()
        raise AssertionError("unreachable")

    def _facts(self) -> dict[str, str]:
        return self._read() or self._start()

    def _read(self) -> dict[str, str] | None:
        try:
            return json.loads((self.home / "run" / "resident.json").read_text())
        except (OSError, ValueError):
            return None

    def _start(self) -> dict[str, str]:
        self._belay("start", "--json")
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            facts = self._read()
            if facts is not None:
                return facts
            time.sleep(0.05)
        raise BelayError("RESIDENT_GONE", "Belay's resident process did not start. Nothing was changed.")

    def _belay(self, *arguments: str) -> None:
        command = shlex.split(os.environ.get("BELAY_COMMAND") or "belay")
        try:
            done = subprocess.run(
                [*command, "--home", str(self.home), *arguments],
                capture_output=True,
                text=True,
                timeout=ANSWER_SECONDS,
                check=False,
            )
        except OSError as error:
            raise BelayError("BELAY_MISSING", f"{command[0]} cannot be started: {error}") from error
        if done.returncode != 0:
            raise BelayError("BELAY_FAILED", (done.stderr or done.stdout).strip())


def _error_of(error: urllib.error.HTTPError) -> BelayError:
    try:
        told = json.load(error)
        told = told.get("error", told)
        code, message = told["code"], told["message"]
    except (ValueError, KeyError, AttributeError, TypeError):
        return BelayError("HTTP", f"Belay answered {error.code}.")
    facts = {key: value for key, value in told.items() if key not in ("code", "message")}
    kind = CheckpointNotFound if code == "CHECKPOINT_NOT_FOUND" else BelayError
    return kind(code, message, facts)


class _Dialog:
    """A dialog as the server knows it; begun when it is first used."""

    def __init__(self, server: _Server, dialog_id: str | None) -> None:
        self.server = server
        self.id = dialog_id or DEFAULT_DIALOG
        self._begun = False

    def call(self, method: str, action: str, body: Any = None, query: dict[str, str] | None = None) -> Any:
        path = f"/api/dialogs/{urllib.parse.quote(self.id, safe='')}/{action}"
        try:
            return self.server.call(method, path, body, query)
        except BelayError as error:
            if error.code != "THREAD_NOT_FOUND" or self._begun:
                raise
        self.server.call("POST", "/api/dialogs", {"id": self.id})
        self._begun = True
        return self.server.call(method, path, body, query)


class VersioningTracker:
    """Saves and restores a project for one dialog. Everything is in the project's store."""

    def __init__(self, project_root: str | os.PathLike[str], dialog_id: str | None = None) -> None:
        self.project_root = Path(project_root).resolve()
        self.dialog_id = dialog_id
        self.last_restore: dict[str, Any] | None = None
        self._dialog = _Dialog(_Server(self.project_root), dialog_id)
        self._edit: str | None = None
        self._tracked: list[str] | None = None
        self._staged: set[str] = set()

    def create_checkpoint(self, message: str) -> CheckpointInfo:
        """Takes the checkpoint before a user message."""
        told = self._dialog.call("POST", "checkpoints", {"message": message})
        self._staged.clear()
        return CheckpointInfo(told["commit_id"], told["message"], told["not_captured"])

    def list_checkpoints(self) -> list[CheckpointInfo]:
        """The checkpoints of all sessions of the dialog, oldest first."""
        if not self._dialog.server.is_protected():
            return []
        told = self._dialog.call("GET", "checkpoints")
        return [
            CheckpointInfo(each["commit_id"], each["message"], each["not_captured"])
            for each in told["checkpoints"]
        ]

    def approve_all(self, message: str | None = None) -> dict[str, Any]:
        """Makes the present state the approved one and begins the next session."""
        return self._dialog.call("POST", "approve", {"message": message})

    def reset_to_approved(self) -> dict[str, Any]:
        """Brings the files back to the approved state and begins the next session."""
        told = self._dialog.call("POST", "reset")
        self._staged.clear()
        return {key: value for key, value in told.items() if value is not None}

    def restore_checkpoint(self, commit_id: str) -> list[str]:
        """Brings the files back to a checkpoint; returns what was written. Skipped files are in `last_restore`."""
        told = self._dialog.call("POST", "restore", {"checkpoint_id": commit_id})
        self._staged.clear()
        self.last_restore = {
            "new_checkpoint": told["new_checkpoint"] or told["restored_to"],
            "safety_checkpoint": told["safety_checkpoint"] or told["restored_to"],
            "skipped": told["skipped"],
        }
        return told["written"]

    def start_edit(self, paths: Iterable[str | os.PathLike[str]]) -> None:
        """Saves files that a tool is about to write. An edit that is open ends, and keeps what it did."""
        self.finalize_edit()
        inside = [self._inside(path) for path in paths]
        self._edit = self._dialog.call("POST", "edits", {"paths": inside})["edit"]

    def finalize_edit(self) -> None:
        """Ends the edit; its files stay as they are."""
        self._end_edit("finalize")

    def abort_edit(self) -> None:
        """Puts the files of the edit back, and removes those that are new."""
        self._end_edit("abort")

    def begin_transaction(self) -> None:
        """Groups the changes until the commit into one checkpoint."""
        self._tracked = []

    def track_file_change(self, file_path: str | os.PathLike[str], operation: str) -> None:
        """Notes a change for the message of the transaction."""
        if self._tracked is not None:
            self._tracked.append(f"{operation}: {file_path}")

    def commit_transaction(self, message: str | None = None) -> CheckpointInfo | None:
        """Takes one checkpoint of what was tracked; None when nothing was."""
        tracked, self._tracked = self._tracked, None
        if not tracked:
            return None
        return self.create_checkpoint(message or f"Transaction: {', '.join(tracked)}")

    def abort_transaction(self) -> None:
        """Forgets what was tracked; the files stay as they are."""
        self._tracked = None

    def is_transaction_active(self) -> bool:
        """Whether a transaction is open."""
        return self._tracked is not None

    def stage_file(self, file_path: str | os.PathLike[str]) -> None:
        """Captures a file from now on, even if ignore files exclude it."""
        path = self._inside(file_path)
        self._dialog.call("POST", "stage", {"paths": [path]})
        self._staged.add(path)

    def stage_file_deletion(self, file_path: str | os.PathLike[str]) -> None:
        """The same for a file that was deleted on purpose."""
        self.stage_file(file_path)

    def has_staged_changes(self) -> bool:
        """Whether files were staged since the last checkpoint of this tracker."""
        return bool(self._staged)

    def clear_staging(self) -> None:
        """Forgets that files were staged; they are captured all the same."""
        self._staged.clear()

    def has_uncommitted_changes(self) -> bool:
        """Whether the files differ from the newest checkpoint."""
        server = self._dialog.server
        return server.is_protected() and bool(server.call("GET", "/api/status")["changedFiles"])

    def get_staged_files(self, session_name: str | None = None, include_diff: bool = True) -> list[dict[str, Any]]:
        """What a session changed since the approved state; the open one unless another is named."""
        if session_name is not None:
            return self.get_tree_diff("main", session_name, include_diff)
        changed = self._dialog.call("GET", "session")["changed_files"]
        return changed if include_diff else [{**each, "diff": None} for each in changed]

    def get_tree_diff(self, from_ref: str, to_ref: str, include_diff: bool = True) -> list[dict[str, Any]]:
        """Compares two states: "main", "session_2", "refs/heads/…" or checkpoints."""
        query = {"from": from_ref, "to": to_ref, "diff": "1" if include_diff else "0"}
        return self._dialog.call("GET", "diff", query=query)["changed_files"]

    def _end_edit(self, how: str) -> None:
        edit, self._edit = self._edit, None
        if edit is not None:
            self._dialog.call("POST", f"edits/{edit}/{how}")

    def _inside(self, path: str | os.PathLike[str]) -> str:
        return _path_in(self.project_root, path)


def _path_in(root: Path, path: str | os.PathLike[str]) -> str:
    whole = Path(os.path.normpath(root / path))
    whole = whole.parent.resolve() / whole.name
    try:
        return str(whole.relative_to(root))
    except ValueError:
        message = f"{path} is not a path inside {root}. Nothing was changed."
        raise BelayError("PATH_OUTSIDE", message, {"path": str(path)}) from None


class Project:
    """A directory and its dialogs."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root).resolve()
        self._server = _Server(self.root)
        self._current: str | None = None

    def create_dialog(self, title: str | None = None, set_current: bool = True) -> str:
        """Begins a dialog, with a checkpoint of the project as it is; returns its id."""
        dialog = self._server.call("POST", "/api/dialogs", {"title": title})["id"]
        if set_current:
            self._current = dialog
        return dialog

    def load_dialogs_index(self) -> dict[str, Any]:
        """The index of dialogs."""
        return {"dialogs": self.list_dialogs(), "current_dialog_id": self.get_current_dialog_id()}

    def list_dialogs(self) -> list[dict[str, Any]]:
        """All dialogs, newest first."""
        return self._server.call("GET", "/api/dialogs")["dialogs"] if self._server.is_protected() else []

    def get_current_dialog_id(self) -> str | None:
        """The dialog that was chosen here, else the one that was last at work; None when there is none."""
        known = [dialog["id"] for dialog in self.list_dialogs()]
        return self._current if self._current in known else (known[0] if known else None)

    def set_current_dialog_id(self, dialog_id: str) -> None:
        """Chooses a dialog for this project object."""
        self._current = self._server.call("GET", self._path(dialog_id))["id"]

    def delete_dialog(self, dialog_id: str) -> None:
        """Hides a dialog and prunes its checkpoints; those of others stay."""
        self._server.call("DELETE", self._path(dialog_id))
        if self._current == dialog_id:
            self._current = None

    def get_dialog_history(self, dialog_id: str) -> DialogHistory:
        """The messages of a dialog."""
        return DialogHistory(self._server, dialog_id)

    def _path(self, dialog_id: str) -> str:
        return f"/api/dialogs/{urllib.parse.quote(dialog_id, safe='')}"


class DialogHistory:
    """What was said in a dialog."""

    def __init__(self, server: _Server, dialog_id: str) -> None:
        self._dialog = _Dialog(server, dialog_id)

    def add_user_message(self, content: str, checkpoint: str | None = None, session: str | None = None) -> None:
        """Records a user's message and begins the turn that answers it, at the checkpoint that was taken for it."""
        self._dialog.call("POST", "messages", {"content": content, "checkpoint": checkpoint})

    def add_ai_message(self, content: str) -> None:
        """Records an answer."""
        self._dialog.call("POST", "messages", {"content": content, "role": "assistant"})

    def get_messages(self, limit: int | None = None) -> list[dict[str, Any]]:
        """The messages, oldest first; with a limit the last ones."""
        found: list[dict[str, Any]] = []
        cursor: int | None = None
        while limit is None or len(found) < limit:
            query = {"limit": str(min(1000, limit - len(found)) if limit is not None else 1000)}
            if cursor is not None:
                query["cursor"] = str(cursor)
            page = self._dialog.call("GET", "history", query=query)
            found = page["messages"] + found
            cursor = page["next_cursor"]
            if cursor is None:
                break
        return [_message(each) for each in found if each["type"] in ("user", "assistant")]


def _message(told: dict[str, Any]) -> dict[str, Any]:
    if told["type"] != "user" or told["checkpoint"] is None:
        kwargs = {}
    else:
        kwargs = {"checkpoint": told["checkpoint"], "session": told["session"]}
    kind = "human" if told["type"] == "user" else "ai"
    return {"type": kind, "content": told["content"], "additional_kwargs": kwargs}


@dataclass
class Document:
    """A piece of a file that answers a question: its text, and `source` and `hash` of the file."""

    page_content: str
    metadata: dict[str, str]


class VectorStoreManager:
    """The search over the files that agents touched: Belay's index. What it answers is compared with the disk first."""

    def __init__(self, project: Project) -> None:
        self._server = project._server
        self._root = project.root

    async def index_file(
        self, file_path: str | os.PathLike[str], content: str | None = None, chunk_size: int | None = None
    ) -> list[str]:
        """Indexes a file as it is, or with this content; returns the names of its pieces, which have 1000 characters."""
        return self._index([_path_in(self._root, file_path)], {} if content is None else {"content": content})

    async def has_file(self, file_path: str | os.PathLike[str]) -> bool:
        """Whether a file is in the index."""
        return _path_in(self._root, file_path) in self.get_indexed_files()

    def delete_by_source(self, file_path: str | os.PathLike[str]) -> None:
        """Takes a file out."""
        path = _path_in(self._root, file_path)
        if self._server.is_protected():
            self._server.call("POST", "/api/index/remove", {"paths": [path]})

    async def reindex_file(self, file_path: str | os.PathLike[str]) -> list[str]:
        """Indexes a file that is in the index again; one that is not stays out."""
        return self._index([_path_in(self._root, file_path)], {"known": True})

    async def reindex_files(self, file_paths: Iterable[str | os.PathLike[str]]) -> int:
        """Looks at files again; returns how many of those in the index changed."""
        paths = [_path_in(self._root, path) for path in file_paths]
        told = self._server.call("POST", "/api/index/files", {"paths": paths, "known": True})
        return sum(not each["unchanged"] for each in told["indexed"])

    def get_indexed_files(self) -> dict[str, str]:
        """The files of the index, each with the SHA-256 of its content."""
        if not self._server.is_protected():
            return {}
        told = self._server.call("GET", "/api/index/files")
        return {each["path"]: each["hash"] for each in told["files"]}

    async def sync_files_if_needed(self) -> dict[str, int]:
        """Finds what changed without a tool, such as by hand, and what is gone."""
        if not self.get_indexed_files():
            return {"checked": 0, "reindexed": 0, "removed": 0, "skipped": 0}
        told = self._server.call("POST", "/api/index/sync")
        return {key: told[key] for key in ("checked", "reindexed", "removed", "skipped")}

    async def similarity_search(self, query: str, k: int = 4) -> list[Document]:
        """The pieces that answer a question best."""
        if not self.get_indexed_files():
            return []
        told = self._server.call("GET", "/api/find", query={"q": query, "k": str(k)})
        return [Document(hit["text"], {"source": hit["path"], "hash": hit["hash"]}) for hit in told["hits"]]

    def _index(self, paths: list[str], more: dict[str, Any]) -> list[str]:
        told = self._server.call("POST", "/api/index/files", {"paths": paths, **more})
        return [f"{each['path']}#{at}" for each in told["indexed"] for at in range(each["chunks"])]


class EventFactory:
    """Makes the events that AgentSmithy sends to its pages; what is left out is left out of the event."""

    @staticmethod
    def user(**event: Any) -> dict[str, Any]:
        return {"type": "user", **event}

    @staticmethod
    def file_edit(**event: Any) -> dict[str, Any]:
        return {"type": "file_edit", **event}

    @staticmethod
    def done(**event: Any) -> dict[str, Any]:
        return {"type": "done", **event}

    @staticmethod
    def error(**event: Any) -> dict[str, Any]:
        return {"type": "error", **event}
