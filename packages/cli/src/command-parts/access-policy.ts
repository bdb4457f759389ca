/** What everyday access to a remote needs on its server, in the words of that server. */
import { engineKind } from "../wiring/connect-remote.ts";

const TABLE = `GRANT SELECT, INSERT ON belay_object TO <members>;
GRANT EXECUTE ON FUNCTION belay_replace TO <members>;`;

/** The policy for the server at an address; nothing in it can delete. */
export function accessPolicy(url: string): string {
  const kind = engineKind(url);
  if (kind === "postgres") return TABLE;
  return kind === "mixed" ? `${bucketPolicy(url)}\n${TABLE}` : bucketPolicy(url);
}

function bucketPolicy(url: string): string {
  const [, bucket = "", path = ""] = /^s3:\/\/([^/?]+)\/?([^?]*)/.exec(url) ?? [];
  const prefix = path.replace(/\/+$/, "");
  const below = prefix === "" ? "*" : `${prefix}/*`;
  const isLocked = /[?&]lock-days=/.test(url);
  const objects = [
    "GetObject",
    "PutObject",
    "PutObjectAcl",
    ...(isLocked ? ["GetObjectVersion", "PutObjectRetention"] : []),
  ];
  const lists = ["ListBucket", ...(isLocked ? ["ListBucketVersions"] : [])];
  const allow = (actions: readonly string[], resource: string, more: object = {}) => ({
    Effect: "Allow",
    Action: actions.map((action) => `s3:${action}`),
    Resource: `arn:aws:s3:::${resource}`,
    ...more,
  });
  const statements = [
    allow(objects, `${bucket}/${below}`),
    allow(lists, bucket, { Condition: { StringLike: { "s3:prefix": below } } }),
  ];
  return JSON.stringify({ Version: "2012-10-17", Statement: statements }, undefined, 2);
}
