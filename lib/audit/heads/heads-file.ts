import { appendFile, open, rename } from "node:fs/promises";
import { headIn, type Checkpoint } from "#lib/audit/heads/checkpoint.ts";
import { SIGNED } from "#lib/audit/checkpoint-store.ts";
import { env } from "#lib/env.ts";
import { log } from "#lib/telemetry/log.ts";

/** About the last 150 signed tree heads. */
const TAIL_BYTES = 64 * 1024;

/** A person who can change only the database cannot change this file. The first newline ends a line that a crash cut. */
export async function appendHead({ signature }: Checkpoint): Promise<void> {
  const { AUDIT_HEADS_FILE } = env();
  if (AUDIT_HEADS_FILE) await appendFile(AUDIT_HEADS_FILE, `\n${signature}\n`, { mode: 0o600 });
}

/** Keeps the old file beside the new one, which begins with `head`. */
export async function startNewFile(head: Checkpoint): Promise<void> {
  const { AUDIT_HEADS_FILE } = env();
  if (AUDIT_HEADS_FILE === undefined) return;
  await rename(AUDIT_HEADS_FILE, `${AUDIT_HEADS_FILE}.until-${new Date().toISOString().replaceAll(":", "")}`);
  await appendHead(head);
}

async function readTail(path: string): Promise<string> {
  const file = await open(path, "a+", 0o600);
  try {
    const { size } = await file.stat();
    const length = Math.min(size, TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString("latin1", 0, bytesRead);
  } finally {
    await file.close();
  }
}

export type KeptHead = { readonly head: Checkpoint | null; readonly detail?: string };

/** The highest sequence at the file's end. `head` is null without a file or a head; `detail` says why a file is unusable. */
export async function furthestKeptHead(): Promise<KeptHead> {
  const { AUDIT_HEADS_FILE } = env();
  if (!AUDIT_HEADS_FILE) return { head: null };
  const tail = await readTail(AUDIT_HEADS_FILE).catch((error: unknown) => {
    log().error({ error }, "AUDIT_HEADS_FILE cannot be read");
    return null;
  });
  if (tail === null) return { head: null, detail: "AUDIT_HEADS_FILE cannot be read." };
  const lines = tail.split("\n").filter(Boolean);
  const heads = lines.flatMap((line) => headIn(line) ?? []).filter((head) => head.chain === SIGNED);
  if (lines.length > 0 && heads.length === 0)
    return { head: null, detail: "AUDIT_HEADS_FILE does not end with heads that this installation's keys signed." };
  const [furthest = null] = heads.toSorted((a, b) => b.sequence - a.sequence);
  return { head: furthest };
}
