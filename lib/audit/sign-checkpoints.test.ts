import { beforeEach, describe, expect, test } from "vitest";
import { chainEvents, genesis } from "#lib/audit/chain.ts";
import { newestCheckpoint } from "#lib/audit/checkpoint-store.ts";
import { hashedMetadata } from "#lib/audit/commitment.ts";
import { readEnds, readEvents } from "#lib/audit/read-store.ts";
import { signCheckpoints } from "#lib/audit/sign-checkpoints.ts";
import { signingKey } from "#lib/audit/signing-key.ts";
import { auditEntries } from "#lib/audit/tables.ts";
import { writePeaks } from "#lib/audit/tree.ts";
import { verifyChain } from "#lib/audit/verify-chain.ts";
import { database } from "#lib/db/client.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { viewHealth } from "#lib/pages/admin/view-health.ts";
import { forget } from "#lib/process.ts";
import { append, cutCheckpoints, dropCheckpoints, quoted, rewrite, setHead, tamper } from "#test/audit-tampering.ts";
import { useDatabase } from "#test/database.ts";
import { captureLog } from "#test/logged.ts";
import { createBuyer, draftMandate, type Buyer } from "#test/mandates.ts";
import { createOfficial, endSessionsOf } from "#test/platform.ts";

useDatabase();

const logged = captureLog();

const signNow = () => signCheckpoints({ afterSeconds: 0, afterEvents: 1 });
/** Forgets the tree heads that this process has signed, as a restart would. */
const restart = () => forget("audit/heads/signed-heads");

let buyer: Buyer;
let chain: string;
beforeEach(async () => {
  buyer = await createBuyer();
  chain = buyer.organizationId;
  await grow(4);
  logged.length = 0;
});

async function grow(events: number): Promise<void> {
  for (let count = 0; count < events; count += 1) await draftMandate(buyer.person.credential);
}

const alarmed = async () => (await viewHealth()).auditAlarms.map((alarm) => alarm.chain);

async function expectAlarm(name: string): Promise<void> {
  expect(logged).toContainEqual(expect.objectContaining({ level: "fatal", chain: name }));
  expect(await metrics().auditAlarms.get()).toMatchObject({ values: [{ value: 1 }] });
  expect(await alarmed()).toEqual([name]);
}

async function expectCalm(): Promise<void> {
  expect(logged.filter(({ level }) => level === "fatal")).toEqual([]);
  expect(await metrics().auditAlarms.get()).toMatchObject({ values: [{ value: 0 }] });
  expect(await alarmed()).toEqual([]);
}

describe("the worker that signs the heads of audit chains", () => {
  test("signs a chain that grows after its signed head, repeatedly, without an alarm", async () => {
    await signNow();
    expect((await newestCheckpoint(chain))?.sequence).toBe(4);
    await grow(3);
    restart();
    await signNow();
    expect((await newestCheckpoint(chain))?.sequence).toBe(7);
    expect(await signNow()).toBe(0);
    await expectCalm();
  });

  test("signs a growing chain in several processes at once, without a false alarm", async () => {
    await Promise.all([grow(12), ...Array.from({ length: 12 }, () => signNow())]);
    await signNow();
    expect((await newestCheckpoint(chain))?.sequence).toBe(16);
    expect((await verifyChain(chain)).valid).toBe(true);
    await expectCalm();
  });

  test.each([
    ["in the process that signed the true chain", false],
    ["in a process that started later", true],
  ])("never signs a rewritten chain whose checkpoints were removed: %s", async (_, restarted) => {
    await signNow();
    const ends = await readEnds(chain);
    const undo = await rewrite(chain, 2);
    await dropCheckpoints(chain);
    if (restarted) restart();
    expect(await verifyChain(chain)).toMatchObject({ valid: false, firstBad: { sequence: 4 } });
    await signNow();
    expect(await newestCheckpoint(chain)).toBeNull();
    await expectAlarm(chain);
    await grow(2);
    restart();
    await signNow();
    expect(await newestCheckpoint(chain)).toBeNull();
    await undo();
    await tamper(`DELETE FROM audit_entries WHERE chain = ${quoted(chain)} AND sequence > 4`);
    await setHead(chain, ends!);
    logged.length = 0;
    await signNow();
    expect((await newestCheckpoint(chain))?.sequence).toBe(4);
    await expectCalm();
  });

  test("never signs a chain whose newest checkpoints were removed, nor a chain shorter than its signed head", async () => {
    await signNow();
    await grow(3);
    await signNow();
    const undo = await rewrite(chain, 6);
    await dropCheckpoints(chain, 4);
    restart();
    await signNow();
    expect((await newestCheckpoint(chain))?.sequence).toBe(4);
    await expectAlarm(chain);
    await undo();
    await signNow();
    expect(await alarmed()).toEqual([]);
    const [ends, all] = [(await readEnds(chain))!, await readEvents(chain, 0, 7, 7)];
    const { head } = chainEvents(chain, genesis, all.slice(0, 6));
    await tamper(`DELETE FROM audit_entries WHERE chain = ${quoted(chain)} AND sequence > 6`);
    await setHead(chain, { ...head, peaks: writePeaks(head.peaks) });
    await signNow();
    await expectAlarm(chain);
    await database().insert(auditEntries).values(all[6]!);
    await setHead(chain, ends);
    await signNow();
    expect(await alarmed()).toEqual([]);
  });

  test("ignores checkpoints that its key did not sign", async () => {
    await signNow();
    const undo = await rewrite(chain, 2);
    const [head] = await readEvents(chain, 3, 4, 1);
    await dropCheckpoints(chain);
    // Insert a forged checkpoint (signed tree head) with an invalid signature: first with an unknown key id, then with the
    // service's own key id.
    for (const keyId of ["0123456789abcdef", "ours"]) {
      await tamper(`INSERT INTO audit_checkpoints SELECT ${quoted(chain)}, 4, ${quoted(head!.hash)},
        ${keyId === "ours" ? "(SELECT key_id FROM audit_checkpoints LIMIT 1)" : quoted(keyId)}, 'AAAA', clock_timestamp()`);
      restart();
      logged.length = 0;
      await signNow();
      expect((await newestCheckpoint(chain))?.signature).toBe("AAAA");
      await expectAlarm(chain);
      await dropCheckpoints(chain);
    }
    await undo();
    await signNow();
    expect(await alarmed()).toEqual([]);
  });

  test("raises an alarm for an event with a head that its key did not sign, and ignores heads of another key", async () => {
    await signNow();
    const undo = await rewrite(chain, 2);
    const [forged] = await readEvents(chain, 3, 4, 1);
    await dropCheckpoints(chain);
    const kept = await readEnds("checkpoints");
    const { keyId } = signingKey();
    for (const [by, signedAt] of [
      ["0123456789abcdef", new Date().toISOString()],
      [keyId, new Date().toISOString()],
      [keyId, "never"],
    ] as const) {
      const metadata = { sequence: 4, hash: forged!.hash, keyId: by, signature: "AAAA", signedAt };
      await append("checkpoints", { ...forged!, organizationId: chain, entityId: `chain:${chain}`, metadata });
      restart();
      logged.length = 0;
      await signNow();
      expect(await newestCheckpoint(chain)).toBeNull();
      await expectAlarm(chain);
    }
    await undo();
    await cutCheckpoints(kept!);
    restart();
    await signNow();
    expect(await alarmed()).toEqual([]);
  });

  test("a chain does not verify while an event has a head with the service's key id and no valid signature", async () => {
    await signNow();
    const kept = await readEnds("checkpoints");
    const [event] = await readEvents(chain, 3, 4, 1);
    const metadata = { sequence: 5, hash: event!.hash, keyId: signingKey().keyId, signature: "AAAA", signedAt: "never" };
    await append("checkpoints", { ...event!, organizationId: chain, entityId: `chain:${chain}`, metadata });
    expect(await verifyChain(chain)).toMatchObject({ valid: false, firstBad: { sequence: 5 } });
    await cutCheckpoints(kept!);
    expect((await verifyChain(chain)).valid).toBe(true);
  });

  test("ignores an event about an older head that was appended after newer ones", async () => {
    await signNow();
    const named = await readEvents("checkpoints", 0, Number.MAX_SAFE_INTEGER, 1_000);
    const older = named.find(({ entityId }) => entityId === `chain:${chain}`);
    await grow(3);
    await signNow();
    const undo = await rewrite(chain, 6);
    await dropCheckpoints(chain, 4);
    // Append the event about an older checkpoint (signed tree head) again, twice, with its original, valid signature.
    await append("checkpoints", older!);
    await append("checkpoints", older!);
    restart();
    await signNow();
    expect((await newestCheckpoint(chain))?.sequence).toBe(4);
    await expectAlarm(chain);
    await undo();
    await signNow();
    expect(await alarmed()).toEqual([]);
  });

  test("never signs a rewritten platform chain, and continues with the others", async () => {
    const admin = await createOfficial("admin");
    await endSessionsOf(admin, (await createOfficial()).userId);
    await signNow();
    const undo = await rewrite("platform", 1);
    await dropCheckpoints("platform");
    await grow(1);
    restart();
    await signNow();
    expect(await newestCheckpoint("platform")).toBeNull();
    expect((await newestCheckpoint(chain))?.sequence).toBe(5);
    await expectAlarm("platform");
    await undo();
    await signNow();
    expect(await alarmed()).toEqual([]);
  });

  test("never signs a chain with a forged event that has no hash, and continues with the others", async () => {
    const [, second] = await readEvents(chain, 0, 4, 4);
    const write = (metadata: string) =>
      tamper(`UPDATE audit_entries SET metadata = ${quoted(metadata)} WHERE chain = ${quoted(chain)} AND sequence = 2`);
    await write('{"forged":{"number":1e400}}');
    const later = await createBuyer();
    await draftMandate(later.person.credential);
    await signNow();
    expect(await newestCheckpoint(chain)).toBeNull();
    expect((await newestCheckpoint(later.organizationId))?.sequence).toBe(1);
    await expectAlarm(chain);
    expect(await verifyChain(chain)).toMatchObject({ valid: false, firstBad: { sequence: 2 } });
    await write(JSON.stringify(hashedMetadata(second!)));
    await signNow();
    expect(await alarmed()).toEqual([]);
  });

  test("never signs a rewritten chain of checkpoints in the process that signed it, and keeps the alarm after a restart", async () => {
    await signNow();
    await rewrite("checkpoints", 1);
    await dropCheckpoints("checkpoints");
    await signNow();
    expect(await newestCheckpoint("checkpoints")).toBeNull();
    await expectAlarm("checkpoints");
    restart();
    logged.length = 0;
    await signNow();
    expect(await newestCheckpoint("checkpoints")).toBeNull();
    await expectAlarm("checkpoints");
  });
});
