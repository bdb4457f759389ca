"""The calls of AgentSmithy's document, from Python. Prints one JSON object with what they returned."""

import asyncio
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "python"))

from belay_agentsmithy import (  # noqa: E402
    BelayError,
    CheckpointInfo,
    CheckpointNotFound,
    EventFactory,
    Project,
    VectorStoreManager,
    VersioningTracker,
)

project_root = Path(sys.argv[1])
told = {}

# before anything is stored
told["before"] = VersioningTracker(project_root).list_checkpoints()

# Creating a dialog
project = Project(project_root)
dialog_id = project.create_dialog(title="My Feature")
told["dialog"] = dialog_id
told["index"] = project.load_dialogs_index()

# chat_service.py
query = "Create a TODO app with 3 files"
tracker = VersioningTracker(str(project_root), dialog_id)
checkpoint = tracker.create_checkpoint(f"Before user message: {query[:50]}")
assert isinstance(checkpoint, CheckpointInfo)
told["checkpoint"] = [checkpoint.commit_id, checkpoint.message, checkpoint.not_captured]
history = project.get_dialog_history(dialog_id)
history.add_user_message(query, checkpoint=checkpoint.commit_id)
told["event"] = EventFactory.user(content=query, checkpoint=checkpoint.commit_id)

# write_file.py
file_path = project_root / "main.py"
tracker = VersioningTracker(project_root, dialog_id)
tracker.start_edit([file_path, "new.py"])
try:
    file_path.write_text("half")
    (project_root / "new.py").write_text("half")
    raise OSError("the disk is gone")
except OSError:
    tracker.abort_edit()  # Restore file on error
told["aborted"] = [file_path.read_text(), (project_root / "new.py").exists()]
tracker.start_edit([file_path])
file_path.write_text("print('todo')\n")
tracker.finalize_edit()
history.add_ai_message("Done.")
told["messages"] = history.get_messages()
told["last"] = history.get_messages(1)

# sessions
told["pending"] = tracker.get_staged_files()
told["uncommitted"] = tracker.has_uncommitted_changes()
told["approved"] = tracker.approve_all(message="Feature complete")
file_path.write_text("broken\n")
(project_root / "made-by-a-command.txt").write_text("x\n")
broken = tracker.create_checkpoint("Before user message: more")
told["diff"] = tracker.get_tree_diff("main", "session_2")
told["reset"] = tracker.reset_to_approved()
told["after_reset"] = [file_path.read_text(), (project_root / "made-by-a-command.txt").exists()]
told["reset_again"] = tracker.reset_to_approved()
told["restored"] = tracker.restore_checkpoint(told["reset"]["pre_reset_checkpoint"][:8])
told["last_restore"] = tracker.last_restore
told["after_restore"] = file_path.read_text()
told["listed"] = [info.message for info in tracker.list_checkpoints()]

# vector_store.py


async def search() -> dict:
    vectors = VectorStoreManager(project)
    login = project_root / "login.py"
    found = {"before": [vectors.get_indexed_files(), await vectors.similarity_search("password")]}
    login.write_text("def verify_password(user):\n    return check_hash(user)\n")
    (project_root / "never_read.py").write_text("def verify_password_again():\n    pass\n")
    found["pieces"] = await vectors.index_file(login)
    found["long"] = len(await vectors.index_file("long.py", "x" * 2500))
    found["has"] = [await vectors.has_file("login.py"), await vectors.has_file("never_read.py")]
    [document] = await vectors.similarity_search("verify password", k=1)
    found["document"] = [document.page_content, document.metadata]
    found["indexed"] = vectors.get_indexed_files()
    before = VersioningTracker(project_root, dialog_id).create_checkpoint("Before: login")
    login.write_text("def passport_control():\n    pass\n")
    found["sync"] = await vectors.sync_files_if_needed()
    found["changed"] = [each.metadata["source"] for each in await vectors.similarity_search("passport control")]
    tracker.restore_checkpoint(before.commit_id)
    found["back"] = [each.page_content for each in await vectors.similarity_search("verify password", k=1)]
    found["again"] = [await vectors.reindex_file("never_read.py"), await vectors.reindex_files([login, "never_read.py"])]
    vectors.delete_by_source(login)
    found["left"] = list(vectors.get_indexed_files())
    try:
        await vectors.index_file("../elsewhere.py")
    except BelayError as error:
        found["outside"] = error.code
    login.unlink()
    (project_root / "never_read.py").unlink()
    return found


told["search"] = asyncio.run(search())

# staging and transactions
(project_root / "kept.log").write_text("on purpose\n")
tracker.stage_file("kept.log")
told["staged"] = tracker.has_staged_changes()
tracker.begin_transaction()
tracker.track_file_change("kept.log", "write")
kept = tracker.commit_transaction()
told["transaction"] = kept.message
(project_root / "kept.log").unlink()
told["kept"] = tracker.restore_checkpoint(kept.commit_id)

# what is too large is named, by the checkpoint and by the list
(project_root / "large.bin").write_bytes(b"x" * 200_000)
told["gaps"] = [tracker.create_checkpoint("with a gap").not_captured, tracker.list_checkpoints()[-1].not_captured]
(project_root / "large.bin").unlink()

# errors
errors = []
for call in (
    lambda: tracker.restore_checkpoint("kkkkkkkkkkkkkkkk"),
    lambda: VersioningTracker(project_root, "another").restore_checkpoint(kept.commit_id),
    lambda: tracker.start_edit(["../outside"]),
):
    try:
        call()
    except CheckpointNotFound as error:
        assert isinstance(error, KeyError)
        errors.append(["CheckpointNotFound", error.code])
    except BelayError as error:
        errors.append(["BelayError", error.code])
told["errors"] = errors

# a tracker without a dialog
told["default"] = VersioningTracker(project_root).create_checkpoint("without a dialog").message
project.delete_dialog(dialog_id)
told["dialogs_left"] = [dialog["id"] for dialog in project.list_dialogs()]

json.dump(told, sys.stdout)
