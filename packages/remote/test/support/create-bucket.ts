/** Makes a bucket on a test server; the S3 engine itself never does. */
import { AwsV4Signer } from "aws4fetch";
import type { TestServer } from "./ceph-server.ts";

/** Creates a bucket that belongs to the owner; one with locks keeps versions, too. */
export async function createBucket(
  { endpoint, access }: TestServer,
  bucket: string,
  { hasLocks = false } = {},
): Promise<void> {
  const signer = new AwsV4Signer({
    method: "PUT",
    url: `${endpoint}/${bucket}`,
    headers: hasLocks ? { "x-amz-bucket-object-lock-enabled": "true" } : {},
    accessKeyId: access.accessKeyId,
    secretAccessKey: access.secretAccessKey,
    service: "s3",
    region: "us-east-1",
  });
  const { url, method, headers } = await signer.sign();
  const answer = await fetch(url, { method, headers, signal: AbortSignal.timeout(20_000) });
  if (!answer.ok)
    throw new Error(`the bucket ${bucket} could not be made: ${answer.status} ${await answer.text()}`);
}
