import { expect, test } from "vitest";
import { S3RemoteStore } from "../stores/s3-remote-store.ts";
import { parseS3Address } from "../stores/s3-address.ts";
import { RemoteFailure } from "../stores/remote-store.ts";
import { translating } from "./translate-failure.ts";

const failing = (message: string) => translating(() => Promise.reject(new RemoteFailure("denied", message)));

test("[R2246] a failure is a sentence; an address in it stays as it was typed", async () => {
  await expect(failing("the server answered 403")).rejects.toThrow(/^The server answered 403\. Nothing was/);
  for (const address of ["http://127.0.0.1:1", "server.example", "server.example:443"])
    await expect(failing(`${address} answered 403`)).rejects.toThrow(new RegExp(`^${address} answered`));
});

test("[R2246] a server whose name is not found is told apart from one that does not answer", async () => {
  const address = parseS3Address("s3://bucket/x?endpoint=https://no-such-host.invalid");
  const access = { accessKeyId: "key", secretAccessKey: "secret" };
  const store = new S3RemoteStore(address, { access });
  await expect(translating(() => store.get("x"))).rejects.toMatchObject({
    code: "REMOTE_UNREACHABLE",
    message: expect.stringContaining("no-such-host.invalid: the name of this server was not found (DNS)."),
  });
});
