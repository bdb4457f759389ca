/** The statements of the PostgreSQL engine. */

/** Where heads are told of. */
export const headChannel = "belay_head";

/**
 * The table, and two functions that work with the rights of its owner: `belay_replace` overwrites heads and what a probe
 * wrote, and nothing else, so that members need no right to delete. Compressing what is encrypted would be in vain, and
 * `EXTERNAL` lets a part of a value be read alone. Two machines that come first take turns.
 */
export const CREATE_TABLE = `
  SELECT pg_advisory_xact_lock(hashtext('belay_object'));
  CREATE TABLE IF NOT EXISTS belay_object (
    space text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, part integer NOT NULL,
    etag text NOT NULL, at timestamptz NOT NULL, data bytea NOT NULL, PRIMARY KEY (space, key, part));
  ALTER TABLE belay_object ALTER COLUMN data SET STORAGE EXTERNAL;
  CREATE OR REPLACE FUNCTION belay_tell() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_notify('${headChannel}', NEW.space || ' ' || NEW.key); RETURN NULL; END $$;
  CREATE OR REPLACE TRIGGER belay_tell AFTER INSERT ON belay_object
    FOR EACH ROW WHEN (NEW.part = 0 AND NEW.key ~ '^[0-9a-f]{32}/h/') EXECUTE FUNCTION belay_tell();
  CREATE OR REPLACE FUNCTION belay_replace(in_space text, in_key text, in_etag text, parts bytea[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    BEGIN
      IF in_key !~ '^([0-9a-f]{32}/h/|probe/)' THEN RAISE insufficient_privilege; END IF;
      DELETE FROM belay_object WHERE space = in_space AND key = in_key;
      INSERT INTO belay_object SELECT in_space, in_key, n - 1, in_etag, clock_timestamp(), data
        FROM unnest(parts) WITH ORDINALITY AS p (data, n);
    END $$;
  REVOKE ALL ON FUNCTION belay_replace(text, text, text, bytea[]) FROM PUBLIC;
`;

/**
 * Stores an object of so many parts unless its key is taken: $1 prefix, $2 key, $3 ETag, $4 the MD5 of each part, then the
 * parts. All parts go in with the first one, or none.
 */
export function putStatement(parts: number): string {
  const data = Array.from({ length: parts }, (_, n) => `$${n + 5}::bytea`);
  const rest = data
    .slice(1)
    .map((one, n) => `(${n + 1}, ${one})`)
    .join(", ");
  const others =
    rest === ""
      ? ""
      : `, rest AS (INSERT INTO belay_object SELECT $1::text, $2::text, p.n, $3::text, clock_timestamp(), p.data
          FROM (VALUES ${rest}) p (n, data) WHERE EXISTS (SELECT 1 FROM first))`;
  return `
    WITH sound AS (SELECT ARRAY[${data.map((one) => `md5(${one})`).join(", ")}] = $4::text[] AS equal),
    first AS (INSERT INTO belay_object SELECT $1::text, $2::text, 0, $3::text, clock_timestamp(), ${data[0]} FROM sound WHERE sound.equal
      ON CONFLICT DO NOTHING RETURNING 1)${others}
    SELECT (SELECT count(*)::int FROM first) AS stored, (SELECT equal FROM sound) AS sound,
      (SELECT etag FROM belay_object WHERE space = $1 AND key = $2 AND part = 0) AS held,
      extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`;
}

/** Overwrites an object, with a right to delete: $1 prefix, $2 key, $3 ETag, $4 parts. */
export const REPLACE_PARTS = `
  WITH parts AS (SELECT n - 1 AS n, data FROM unnest($4::bytea[]) WITH ORDINALITY AS p (data, n)),
  gone AS (DELETE FROM belay_object WHERE space = $1 AND key = $2 AND part >= (SELECT count(*) FROM parts))
  INSERT INTO belay_object SELECT $1::text, $2::text, n, $3::text, clock_timestamp(), data FROM parts
  ON CONFLICT (space, key, part) DO UPDATE SET etag = excluded.etag, at = excluded.at, data = excluded.data`;
