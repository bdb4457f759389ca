/** A file's content in the contract's shape. */
import type { FileContent } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";

/** Text where it is text, base64 where it is not; null where there is no file, or it is larger than what is shown. */
export function fileContentJson(
  file: Pick<FileContent, "content" | "mode" | "hash"> | null,
): Json<typeof shapes.fileContent> {
  if (file === null) return { content: null, encoding: "utf-8", mode: null, hash: null, tooLarge: false };
  const { content, mode, hash } = file;
  if (content === null) return { content: null, encoding: "utf-8", mode, hash, tooLarge: true };
  const text = content.toString("utf8");
  const isText = !content.subarray(0, 8192).includes(0) && Buffer.from(text, "utf8").equals(content);
  return isText
    ? { content: text, encoding: "utf-8", mode, hash, tooLarge: false }
    : { content: content.toString("base64"), encoding: "base64", mode, hash, tooLarge: false };
}
