import { appendFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findAlarm, newestCheckpoint } from "#lib/audit/checkpoint-store.ts";
import { signCheckpoints } from "#lib/audit/sign-checkpoints.ts";
import { verifyChain } from "#lib/audit/verify-chain.ts";
import { forget } from "#lib/process.ts";
import { dropCheckpoints, rewrite, tamper } from "#test/audit-tampering.ts";
import { useDatabase } from "#test/database.ts";
import { chainOfEvents } from "#test/mandates.ts";

useDatabase();

const signNow = () => signCheckpoints({ afterSeconds: 0, afterEvents: 1 });
const configure = (path: string | undefined): void => {
  if (path === undefined) delete process.env["AUDIT_HEADS_FILE"];
  else process.env["AUDIT_HEADS_FILE"] = path;
  forget("env");
};

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-heads-"));
  path = join(folder, "heads");
  configure(path);
});
afterEach(async () => {
  configure(undefined);
  await rm(folder, { recursive: true });
});

test("a rewritten chain of checkpoints is never signed, also after a restart without an alarm", async () => {
  await chainOfEvents(3);
  await signNow();
  const undo = await rewrite("checkpoints", 1);
  await dropCheckpoints("checkpoints");
  forget("audit/heads/signed-heads");
  await signNow();
  expect(await newestCheckpoint("checkpoints")).toBeNull();
  expect(await findAlarm("checkpoints")).not.toBeNull();
  expect((await verifyChain("checkpoints")).valid).toBe(false);
  await undo();
  await signNow();
  expect(await findAlarm("checkpoints")).toBeNull();
  expect((await verifyChain("checkpoints")).valid).toBe(true);
});

test("a checkpoint of an unknown key with the rewritten head does not hide the head in the file", async () => {
  await chainOfEvents(3);
  await signNow();
  const undo = await rewrite("checkpoints", 1);
  await dropCheckpoints("checkpoints");
  await tamper(`INSERT INTO audit_checkpoints SELECT chain, sequence, hash, 'unknown', 'AAAA', clock_timestamp()
    FROM audit_heads WHERE chain = 'checkpoints'`);
  forget("audit/heads/signed-heads");
  await signNow();
  expect((await newestCheckpoint("checkpoints"))?.keyId).toBe("unknown");
  expect(await findAlarm("checkpoints")).not.toBeNull();
  await dropCheckpoints("checkpoints");
  await undo();
  await signNow();
  expect(await findAlarm("checkpoints")).toBeNull();
});

test("heads are appended, a line that a crash left incomplete is ignored, and processes share the file", async () => {
  await chainOfEvents(2);
  await signNow();
  await appendFile(path, "\neyJhbGciOiJF");
  await chainOfEvents(2);
  await Promise.all([signNow(), signNow()]);
  await chainOfEvents(2);
  await signNow();
  const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line.split(".").length === 3);
  expect(lines.length).toBeGreaterThanOrEqual(3);
  expect(lines).toContain((await newestCheckpoint("checkpoints"))?.signature);
});

test("nothing is signed while the file has no head of this installation or cannot be written", async () => {
  await signNow();
  const before = await newestCheckpoint("checkpoints");
  await chainOfEvents(2);
  await writeFile(path, "not a head\n");
  await signNow();
  expect((await findAlarm("checkpoints"))?.detail).toContain("does not end with heads");
  expect((await verifyChain("checkpoints")).firstBad?.detail).toContain("does not end with heads");
  configure(join(folder, "missing", "heads"));
  await signNow();
  expect((await findAlarm("checkpoints"))?.detail).toBe("AUDIT_HEADS_FILE cannot be read.");
  expect(await newestCheckpoint("checkpoints")).toEqual(before);
  configure(path);
  await rm(path);
  await signNow();
  expect((await newestCheckpoint("checkpoints"))?.sequence).toBeGreaterThan(before!.sequence);
  expect(await findAlarm("checkpoints")).toBeNull();
});
