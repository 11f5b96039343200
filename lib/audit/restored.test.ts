import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { countAlarms, newestCheckpoint } from "#lib/audit/checkpoint-store.ts";
import { readEnds, readEvents } from "#lib/audit/read-store.ts";
import { acceptOlder, olderLogs } from "#lib/audit/restored.ts";
import { signCheckpoints } from "#lib/audit/sign-checkpoints.ts";
import { verifyChain } from "#lib/audit/verify-chain.ts";
import { refuseRunning } from "#lib/db/refuse-running.ts";
import { env } from "#lib/env.ts";
import { forget } from "#lib/process.ts";
import { dropCheckpoints, quoted, rewrite, setHead, tamper } from "#test/audit-tampering.ts";
import { useDatabase } from "#test/database.ts";
import { createBuyer, draftMandate, type Buyer } from "#test/mandates.ts";

useDatabase();

const signNow = () => signCheckpoints({ afterSeconds: 0, afterEvents: 1 });
const restart = () => forget("audit/heads/signed-heads");
const headsFile = (path?: string): void => {
  if (path === undefined) delete process.env["AUDIT_HEADS_FILE"];
  else process.env["AUDIT_HEADS_FILE"] = path;
  forget("env");
};

let folder: string;
let path: string;
let buyer: Buyer;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-restored-"));
  path = join(folder, "heads");
  headsFile(path);
  buyer = await createBuyer();
  await grow(3);
  await signNow();
});
afterEach(async () => {
  headsFile();
  await rm(folder, { recursive: true });
});

async function grow(events: number): Promise<void> {
  for (let count = 0; count < events; count += 1) await draftMandate(buyer.person.credential);
}

/** Appends and signs more, and then brings the logs back to their present state, as the restoring of an older backup does. */
async function restoreOlder(): Promise<void> {
  const logs = await Promise.all(
    [buyer.organizationId, "checkpoints"].map(async (log) => [log, (await readEnds(log))!] as const),
  );
  await grow(2);
  await signNow();
  for (const [log, ends] of logs) {
    for (const table of ["audit_entries", "audit_texts"])
      await tamper(`DELETE FROM ${table} WHERE chain = ${quoted(log)} AND sequence > ${ends.sequence}`);
    await dropCheckpoints(log, ends.sequence);
    await setHead(log, ends);
  }
}

test("an older backup is accepted: the file begins again, the alarms end, the platform's log says so, and signing goes on", async () => {
  await restoreOlder();
  // This process went on while the backup was restored, so it raises an alarm about the log that grew.
  await grow(1);
  await signNow();
  expect(await countAlarms()).toBe(1);
  restart();
  const before = await readFile(path, "utf8");
  const older = await olderLogs();
  expect(older.map(({ chain }) => chain).toSorted()).toEqual(["checkpoints", buyer.organizationId].toSorted());
  expect(older.find(({ chain }) => chain === buyer.organizationId)).toMatchObject({ stored: 4, signed: 5 });
  const kept = await newestCheckpoint("checkpoints");
  await acceptOlder(older);
  const files = await readdir(folder);
  expect(files).toHaveLength(2);
  expect(
    await readFile(
      join(
        folder,
        files.find((name) => name.startsWith("heads.until-"))!,
      ),
      "utf8",
    ),
  ).toBe(before);
  expect(await readFile(path, "utf8")).toBe(`\n${kept!.signature}\n`);
  expect(await countAlarms()).toBe(0);
  const events = await readEvents("platform", 0, Number.MAX_SAFE_INTEGER, 1_000);
  expect(events.filter(({ type }) => type === "auditChain.restored").map(({ metadata }) => metadata)).toContainEqual(
    expect.objectContaining({ stored: 4, signed: 5 }),
  );
  restart();
  await grow(3);
  await signNow();
  restart();
  expect(await olderLogs()).toEqual([]);
  expect(await countAlarms()).toBe(0);
  for (const log of ["checkpoints", "platform", buyer.organizationId]) expect((await verifyChain(log)).valid).toBe(true);
});

test("if the file cannot be moved, the event is there already, so no log is accepted without one", async () => {
  await restoreOlder();
  restart();
  const older = await olderLogs();
  const events = () => readEvents("platform", 0, Number.MAX_SAFE_INTEGER, 1_000);
  const accepted = async () => (await events()).filter(({ type }) => type === "auditChain.restored").length;
  const before = await accepted();
  await rm(path);
  await expect(acceptOlder(older)).rejects.toThrow("ENOENT");
  expect(await accepted()).toBe(before + older.length);
});

test("an older backup is found by the file alone, and nothing is older without one", async () => {
  expect(await olderLogs()).toEqual([]);
  await restoreOlder();
  restart();
  expect(await olderLogs()).toMatchObject([{ chain: "checkpoints" }]);
  await writeFile(path, "not a head\n");
  expect(await olderLogs()).toMatchObject([{ chain: "checkpoints", signed: 0 }]);
});

test("a log that was changed in the database is not accepted, nor one without a head of this installation", async () => {
  const undo = await rewrite(buyer.organizationId, 2);
  await signNow();
  restart();
  await expect(olderLogs()).rejects.toThrow(`The audit log ${buyer.organizationId} was changed in the database`);
  await undo();
  await signNow();
  await rewrite("checkpoints", 1);
  await dropCheckpoints("checkpoints");
  await tamper(`UPDATE audit_entries SET metadata = '{}' WHERE chain = 'checkpoints' AND metadata->>'keyId' IS NOT NULL`);
  restart();
  await expect(olderLogs()).rejects.toThrow("The audit log checkpoints was changed in the database");
});

test("nothing is accepted while processes of the service are connected, because they remember what they signed", async () => {
  await expect(refuseRunning(env().DATABASE_URL!)).rejects.toThrow(
    /Stop all processes of the service first. They have \d+ connections/,
  );
});
