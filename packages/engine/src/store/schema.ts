/**
 * The tables of a workspace's store. Order is by `seq`, never by time. docs/format.md explains each column. A
 * change here is a new migration at the end of the list; released migrations are never edited.
 */
import { MAIN_WORKING_COPY, type Migration } from "./database.ts";

/** The id of the first branch, which every store has. */
export const MAIN_BRANCH = 1;
/** The branch and the working copy of a checkpoint that was captured elsewhere: no branch and no working copy has this id. */
export const ELSEWHERE = 0;

const FIRST = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

  CREATE TABLE pack (id INTEGER PRIMARY KEY AUTOINCREMENT, raw_bytes INTEGER NOT NULL, cold INTEGER NOT NULL, data BLOB NOT NULL);
  CREATE TABLE object (
    hash BLOB PRIMARY KEY, pack INTEGER NOT NULL, offset INTEGER NOT NULL, size INTEGER NOT NULL, form INTEGER NOT NULL
  ) WITHOUT ROWID;

  CREATE TABLE thread (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, agent TEXT NOT NULL, external_id TEXT NOT NULL,
    title TEXT, created_at INTEGER NOT NULL, UNIQUE (agent, external_id)
  );
  CREATE TABLE checkpoint (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, thread TEXT REFERENCES thread (id),
    session TEXT, kind TEXT NOT NULL, phase TEXT, name TEXT, note TEXT, description TEXT NOT NULL,
    created_at INTEGER NOT NULL, snapshot BLOB NOT NULL, rules BLOB NOT NULL, excluded BLOB NOT NULL, parents TEXT NOT NULL,
    message_id TEXT, message_index INTEGER, tool_use_id TEXT, tool TEXT, rolled_back_by TEXT,
    agent TEXT, conversation TEXT, git TEXT, files INTEGER NOT NULL, bytes INTEGER NOT NULL,
    added INTEGER NOT NULL, modified INTEGER NOT NULL, deleted INTEGER NOT NULL,
    delta BLOB NOT NULL, seal BLOB NOT NULL, pruned_at INTEGER
  );
  CREATE INDEX checkpoint_thread ON checkpoint (thread, seq);
  CREATE INDEX checkpoint_name ON checkpoint (name) WHERE name IS NOT NULL;
  CREATE INDEX checkpoint_message ON checkpoint (message_id) WHERE message_id IS NOT NULL;
  CREATE INDEX checkpoint_tool_use ON checkpoint (tool_use_id) WHERE tool_use_id IS NOT NULL;
  CREATE TABLE gap (checkpoint INTEGER NOT NULL REFERENCES checkpoint (seq) ON DELETE CASCADE, path BLOB NOT NULL,
    reason TEXT NOT NULL, size INTEGER NOT NULL, PRIMARY KEY (checkpoint, path)) WITHOUT ROWID;
  CREATE TABLE doubt (checkpoint INTEGER NOT NULL REFERENCES checkpoint (seq) ON DELETE CASCADE, path BLOB NOT NULL,
    reason TEXT NOT NULL, PRIMARY KEY (checkpoint, path, reason)) WITHOUT ROWID;
  CREATE TABLE ref (name TEXT PRIMARY KEY, checkpoint INTEGER NOT NULL REFERENCES checkpoint (seq)) WITHOUT ROWID;
  CREATE INDEX ref_checkpoint ON ref (checkpoint);

  CREATE TABLE step (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, thread TEXT REFERENCES thread (id),
    description TEXT NOT NULL, prompt TEXT, owner TEXT, opened_at INTEGER NOT NULL, closed_at INTEGER,
    before INTEGER, after INTEGER, target INTEGER, state TEXT NOT NULL, position REAL NOT NULL, changed INTEGER NOT NULL DEFAULT 0,
    pruned INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX step_list ON step (state, position);
  CREATE TABLE change (
    checkpoint INTEGER NOT NULL REFERENCES checkpoint (seq) ON DELETE CASCADE, path BLOB NOT NULL, old BLOB, new BLOB,
    attribution TEXT NOT NULL, step TEXT, PRIMARY KEY (checkpoint, path)
  ) WITHOUT ROWID;
  CREATE INDEX change_step ON change (step, checkpoint) WHERE step IS NOT NULL;
  CREATE TABLE shared_window (checkpoint INTEGER NOT NULL REFERENCES checkpoint (seq) ON DELETE CASCADE, step TEXT NOT NULL,
    PRIMARY KEY (step, checkpoint)) WITHOUT ROWID;
  CREATE TABLE named_path (path BLOB PRIMARY KEY, since INTEGER NOT NULL, absent INTEGER NOT NULL) WITHOUT ROWID;

  CREATE TABLE operation (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, at INTEGER NOT NULL,
    detail TEXT NOT NULL, chain BLOB NOT NULL
  );
  CREATE TABLE journal (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, safety INTEGER NOT NULL, plan BLOB NOT NULL, finish TEXT NOT NULL,
    started_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE lease (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, pid INTEGER NOT NULL, started TEXT NOT NULL, boot TEXT NOT NULL,
    since INTEGER NOT NULL, first_pack INTEGER NOT NULL
  ) WITHOUT ROWID;
`;

/** Threads: messages, tool calls, agents, approval sessions; events in their order. */
const CONVERSATIONS = `
  ALTER TABLE checkpoint ADD COLUMN sealed INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE thread ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE thread ADD COLUMN deleted_at INTEGER;
  ALTER TABLE step ADD COLUMN scope TEXT NOT NULL DEFAULT 'files';
  UPDATE thread SET updated_at = max(created_at, coalesce((SELECT max(created_at) FROM checkpoint c WHERE c.thread = thread.id), 0));

  CREATE TABLE session (
    thread TEXT NOT NULL REFERENCES thread (id), number INTEGER NOT NULL, status TEXT NOT NULL, opened_at INTEGER NOT NULL,
    closed_at INTEGER, base INTEGER, approved INTEGER, message TEXT, PRIMARY KEY (thread, number)
  ) WITHOUT ROWID;
  INSERT INTO session (thread, number, status, opened_at, base)
    SELECT id, 1, 'active', created_at,
      (SELECT min(c.seq) FROM checkpoint c WHERE c.thread = thread.id AND c.pruned_at IS NULL) FROM thread;
  UPDATE checkpoint SET session = 'session_1' WHERE thread IS NOT NULL;

  CREATE TABLE message (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, thread TEXT NOT NULL REFERENCES thread (id),
    number INTEGER NOT NULL, role TEXT NOT NULL, content TEXT NOT NULL, external_id TEXT, created_at INTEGER NOT NULL,
    session TEXT NOT NULL, checkpoint INTEGER, since INTEGER NOT NULL, step TEXT, artifacts TEXT NOT NULL, rolled_back_by TEXT,
    UNIQUE (thread, number)
  );
  CREATE UNIQUE INDEX message_external ON message (thread, external_id) WHERE external_id IS NOT NULL;
  CREATE INDEX message_checkpoint ON message (checkpoint) WHERE checkpoint IS NOT NULL;

  CREATE TABLE tool_call (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, thread TEXT NOT NULL REFERENCES thread (id), step TEXT, agent TEXT,
    tool TEXT NOT NULL, paths TEXT NOT NULL, captured INTEGER NOT NULL, within TEXT, snapshot BLOB, rules BLOB, excluded BLOB,
    since INTEGER NOT NULL, opened_at INTEGER NOT NULL, closed_at INTEGER
  );
  CREATE INDEX tool_call_open ON tool_call (id) WHERE closed_at IS NULL;
  CREATE INDEX tool_call_thread ON tool_call (thread, captured);
  CREATE TABLE agent_run (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL, thread TEXT NOT NULL REFERENCES thread (id), step TEXT,
    role TEXT NOT NULL, status TEXT NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER, cost REAL NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0, parent TEXT, checkpoint INTEGER, UNIQUE (thread, id)
  );
  CREATE TABLE event (seq INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT NOT NULL, thread TEXT, at INTEGER NOT NULL, data TEXT NOT NULL);
`;

/**
 * What makes an undo trustworthy: an agent's process and its last event, whether its tools are announced,
 * background calls, turns that continue after a restore.
 */
const TRUST = `
  ALTER TABLE thread ADD COLUMN client TEXT;
  ALTER TABLE thread ADD COLUMN heard_at INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE thread ADD COLUMN brackets INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE step ADD COLUMN continues TEXT;
  ALTER TABLE tool_call ADD COLUMN background INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE tool_call ADD COLUMN nature TEXT;
  ALTER TABLE tool_call ADD COLUMN given_up INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX tool_call_given_up ON tool_call (step) WHERE given_up = 1;
  ALTER TABLE change ADD COLUMN during TEXT;
  ALTER TABLE agent_run ADD COLUMN known_cost REAL;
  ALTER TABLE agent_run ADD COLUMN known_tokens INTEGER;
  UPDATE agent_run SET known_cost = nullif(cost, 0), known_tokens = nullif(tokens, 0);
  ALTER TABLE agent_run DROP COLUMN cost;
  ALTER TABLE agent_run DROP COLUMN tokens;
  ALTER TABLE agent_run RENAME COLUMN known_cost TO cost;
  ALTER TABLE agent_run RENAME COLUMN known_tokens TO tokens;
  CREATE TABLE uncaptured (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, thread TEXT NOT NULL REFERENCES thread (id), message TEXT UNIQUE, at INTEGER NOT NULL,
    until INTEGER NOT NULL, events INTEGER NOT NULL, problem TEXT NOT NULL, after INTEGER NOT NULL
  );
  ALTER TABLE journal ADD COLUMN settled INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE kept_out (path BLOB PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID;
  UPDATE thread SET heard_at = updated_at,
    brackets = EXISTS (SELECT 1 FROM tool_call c WHERE c.thread = thread.id AND c.captured = 1);
  UPDATE step SET changed = 1, position = coalesce((SELECT max(o.seq) FROM change g JOIN checkpoint c ON c.seq = g.checkpoint
      JOIN operation o ON json_extract(o.detail, '$.checkpoint') = c.id WHERE g.step = step.id), 1)
    WHERE state = 'open' AND (EXISTS (SELECT 1 FROM change g WHERE g.step = step.id)
      OR EXISTS (SELECT 1 FROM shared_window w WHERE w.step = step.id));
`;

/**
 * Branches and working copies: everything so far is on `main`, and the root is the first working copy. Aliases: names
 * that checkpoints have in other programs. The defaults are what makes a migration cost nothing, however long the history is.
 */
const BRANCHES = `
  CREATE TABLE branch (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, parent INTEGER REFERENCES branch (id), base INTEGER,
    head INTEGER, state TEXT NOT NULL, description TEXT, created_at INTEGER NOT NULL, closed_at INTEGER, start INTEGER
  );
  INSERT INTO branch (id, name, head, state, created_at)
    SELECT ${MAIN_BRANCH}, 'main', max(seq), 'open', coalesce(min(created_at), 0) FROM checkpoint;
  CREATE TABLE working_copy (
    id INTEGER PRIMARY KEY AUTOINCREMENT, root BLOB, dev TEXT, ino TEXT, birth TEXT,
    branch INTEGER NOT NULL REFERENCES branch (id), state TEXT NOT NULL, method TEXT, bytes INTEGER, port INTEGER, owner TEXT,
    created_at INTEGER NOT NULL, removed_at INTEGER, facts TEXT
  );
  INSERT INTO working_copy (id, branch, state, created_at)
    SELECT ${MAIN_WORKING_COPY}, id, 'main', created_at FROM branch;
  ALTER TABLE checkpoint ADD COLUMN branch INTEGER NOT NULL DEFAULT ${MAIN_BRANCH};
  ALTER TABLE checkpoint ADD COLUMN working_copy INTEGER NOT NULL DEFAULT ${MAIN_WORKING_COPY};
  ALTER TABLE checkpoint ADD COLUMN origin TEXT;
  ALTER TABLE checkpoint ADD COLUMN arrived_at INTEGER;
  CREATE INDEX checkpoint_origin ON checkpoint (origin) WHERE origin IS NOT NULL;
  ALTER TABLE step ADD COLUMN branch INTEGER NOT NULL DEFAULT ${MAIN_BRANCH};
  ALTER TABLE step ADD COLUMN from_branch INTEGER;
  ALTER TABLE tool_call ADD COLUMN working_copy INTEGER NOT NULL DEFAULT ${MAIN_WORKING_COPY};
  ALTER TABLE journal ADD COLUMN working_copy INTEGER NOT NULL DEFAULT ${MAIN_WORKING_COPY};
  ALTER TABLE lease ADD COLUMN working_copy INTEGER NOT NULL DEFAULT ${MAIN_WORKING_COPY};
  CREATE TABLE named_here (
    working_copy INTEGER NOT NULL, path BLOB NOT NULL, since INTEGER NOT NULL, absent INTEGER NOT NULL,
    PRIMARY KEY (working_copy, path)
  ) WITHOUT ROWID;
  INSERT INTO named_here SELECT ${MAIN_WORKING_COPY}, path, since, absent FROM named_path;
  DROP TABLE named_path;
  ALTER TABLE named_here RENAME TO named_path;

  CREATE TABLE alias (
    origin TEXT NOT NULL, name TEXT NOT NULL, checkpoint INTEGER NOT NULL REFERENCES checkpoint (seq) ON DELETE CASCADE,
    PRIMARY KEY (origin, name)
  ) WITHOUT ROWID;
  CREATE TABLE version (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
    checkpoint INTEGER NOT NULL REFERENCES checkpoint (seq) ON DELETE CASCADE, branch INTEGER NOT NULL REFERENCES branch (id),
    parent TEXT, name TEXT, description TEXT NOT NULL, metadata TEXT NOT NULL, created_at INTEGER NOT NULL
  );
  CREATE INDEX version_checkpoint ON version (checkpoint);
  CREATE INDEX alias_name ON alias (name);
  CREATE INDEX alias_checkpoint ON alias (checkpoint);
  CREATE TABLE merge (
    id TEXT PRIMARY KEY, into_branch INTEGER NOT NULL REFERENCES branch (id), into_head INTEGER NOT NULL, sources TEXT NOT NULL,
    state TEXT NOT NULL, step TEXT, checks TEXT NOT NULL, report TEXT NOT NULL, created_at INTEGER NOT NULL, closed_at INTEGER
  ) WITHOUT ROWID;
  CREATE TABLE conflict (
    id TEXT PRIMARY KEY, merge TEXT NOT NULL REFERENCES merge (id), source_branch INTEGER NOT NULL REFERENCES branch (id),
    path BLOB NOT NULL, kind TEXT NOT NULL, base BLOB, ours BLOB, theirs BLOB, facts TEXT NOT NULL, severity TEXT NOT NULL,
    state TEXT NOT NULL, result TEXT, by TEXT, note TEXT, at INTEGER
  ) WITHOUT ROWID;
  CREATE INDEX conflict_merge ON conflict (merge);

  CREATE TABLE remote (
    name TEXT PRIMARY KEY, url TEXT NOT NULL, space TEXT NOT NULL, fingerprint TEXT NOT NULL, member TEXT NOT NULL,
    line TEXT NOT NULL, began TEXT, abilities TEXT NOT NULL, segment INTEGER NOT NULL DEFAULT 0, segment_hash TEXT,
    created_at INTEGER NOT NULL, pushed_at INTEGER, problem TEXT
  ) WITHOUT ROWID;
  CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, remote TEXT NOT NULL REFERENCES remote (name) ON DELETE CASCADE,
    kind TEXT NOT NULL, id TEXT NOT NULL
  );
  CREATE INDEX outbox_row ON outbox (remote, kind, id);
  CREATE TABLE push_journal (
    remote TEXT NOT NULL REFERENCES remote (name) ON DELETE CASCADE, key TEXT NOT NULL, kind TEXT NOT NULL,
    stored INTEGER NOT NULL, at INTEGER NOT NULL, until INTEGER, detail BLOB NOT NULL, PRIMARY KEY (remote, key)
  ) WITHOUT ROWID;

  CREATE TABLE run (
    id TEXT PRIMARY KEY, batch TEXT NOT NULL, thread TEXT REFERENCES thread (id), step TEXT, working_copy INTEGER NOT NULL,
    branch INTEGER NOT NULL REFERENCES branch (id), agent TEXT NOT NULL, role TEXT NOT NULL, command TEXT NOT NULL, prompt TEXT NOT NULL,
    limits TEXT NOT NULL, status TEXT NOT NULL, pid INTEGER, started TEXT, boot TEXT, watcher TEXT, session TEXT, exit INTEGER,
    signal TEXT, reason TEXT, cost REAL, tokens TEXT, log TEXT, truncated INTEGER NOT NULL DEFAULT 0, before INTEGER, after INTEGER,
    changes TEXT, escaped TEXT, created_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER
  );
  CREATE INDEX run_alive ON run (working_copy) WHERE ended_at IS NULL;
  CREATE INDEX run_batch ON run (batch);
  CREATE TABLE fix (
    id TEXT PRIMARY KEY, thread TEXT REFERENCES thread (id), working_copy INTEGER NOT NULL, state TEXT NOT NULL, config TEXT NOT NULL,
    review TEXT NOT NULL, before INTEGER, issues TEXT NOT NULL DEFAULT '[]', reason TEXT, result TEXT, created_at INTEGER NOT NULL,
    ended_at INTEGER
  );
  CREATE TABLE fix_attempt (
    fix TEXT NOT NULL REFERENCES fix (id) ON DELETE CASCADE, number INTEGER NOT NULL, severity TEXT NOT NULL, checkpoint INTEGER NOT NULL,
    run TEXT, issues_before TEXT NOT NULL, issues_after TEXT, taken_back INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (fix, number)
  ) WITHOUT ROWID;
`;

/** Lines of others: when they were looked at, and what was written on checkpoints, by whom [T11]. */
const OTHER_LINES = `
  ALTER TABLE remote ADD COLUMN pulled_at INTEGER;
  CREATE TABLE annotation (
    line TEXT NOT NULL, checkpoint TEXT NOT NULL, field TEXT NOT NULL, value TEXT, clock INTEGER NOT NULL, device TEXT NOT NULL,
    PRIMARY KEY (line, checkpoint, field)
  ) WITHOUT ROWID;
`;

/** Files outside the workspace. */
const OUTSIDE = `
  CREATE TABLE outside_file (
    checkpoint INTEGER NOT NULL REFERENCES checkpoint (seq) ON DELETE CASCADE, path TEXT NOT NULL, entry BLOB,
    PRIMARY KEY (checkpoint, path)
  ) WITHOUT ROWID;
`;

/** Content that this store names and that its owner keeps on another machine. */
const WITHHELD = `
  CREATE TABLE withheld (hash BLOB NOT NULL UNIQUE);
`;

/** The schema history of a store. */
export const STORE_MIGRATIONS: readonly Migration[] = [
  FIRST,
  CONVERSATIONS,
  TRUST,
  BRANCHES,
  OTHER_LINES,
  OUTSIDE,
  WITHHELD,
];

/** The schema history of the registry. */
export const REGISTRY_MIGRATIONS: readonly Migration[] = [
  `CREATE TABLE workspace (
    id TEXT PRIMARY KEY, store TEXT NOT NULL, path BLOB NOT NULL UNIQUE, dev TEXT NOT NULL, ino TEXT NOT NULL,
    birth TEXT NOT NULL, created_at INTEGER NOT NULL
  ) WITHOUT ROWID;`,
  `ALTER TABLE workspace ADD COLUMN ended_at INTEGER;
  CREATE TABLE departure (path BLOB PRIMARY KEY, workspace TEXT NOT NULL, at INTEGER NOT NULL) WITHOUT ROWID;`,
  `CREATE TABLE fork (
    workspace TEXT NOT NULL REFERENCES workspace (id) ON DELETE CASCADE, working_copy INTEGER NOT NULL, path BLOB NOT NULL UNIQUE,
    dev TEXT NOT NULL, ino TEXT NOT NULL, birth TEXT NOT NULL, created_at INTEGER NOT NULL, port INTEGER,
    PRIMARY KEY (workspace, working_copy)
  ) WITHOUT ROWID;`,
];
