import { setTimeout as pause } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import { findAlarm, newestCheckpoint } from "#lib/audit/checkpoint-store.ts";
import type { ChainedEvent } from "#lib/audit/chain.ts";
import { proveEvent } from "#lib/audit/prove-event.ts";
import { readEnds, readEvents } from "#lib/audit/read-store.ts";
import { signCheckpoints } from "#lib/audit/sign-checkpoints.ts";
import { payloadOf, signingKey } from "#lib/audit/signing-key.ts";
import { forget } from "#lib/process.ts";
import { append, cutCheckpoints, dropCheckpoints, rewrite, tamper } from "#test/audit-tampering.ts";
import { addEvents } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { captureLog } from "#test/logged.ts";
import { chainOfEvents } from "#test/mandates.ts";

useDatabase();

const logged = captureLog();
const fatal = () => logged.filter(({ level }) => level === "fatal");

const signNow = () => signCheckpoints({ afterSeconds: 0, afterEvents: 1 });

let chain: string;
let event: ChainedEvent;
const eventAt = async (sequence: number): Promise<ChainedEvent> => (await readEvents(chain, sequence - 1, sequence, 1))[0]!;
beforeEach(async () => {
  chain = await chainOfEvents(4);
  event = await eventAt(2);
  logged.length = 0;
});

const issuerOf = (head: string): unknown => payloadOf(head, "log-head+jwt", signingKey())?.["iss"];

describe("the proof of an event", () => {
  test("names the present address of the service, also if the head was signed under an earlier address", async () => {
    await signNow();
    const earlier = process.env["BASE_URL"];
    process.env["BASE_URL"] = "https://moved.example";
    forget("env");
    try {
      const proof = await proveEvent(event);
      expect(issuerOf(proof!.head)).toBe("https://moved.example");
      expect(proof!.log.treeSize).toBe((await newestCheckpoint("checkpoints"))!.sequence);
    } finally {
      if (earlier === undefined) delete process.env["BASE_URL"];
      else process.env["BASE_URL"] = earlier;
      forget("env");
    }
  });

  test("verifies if the stored signature of the head was written in another form", async () => {
    await signNow();
    await tamper(`UPDATE audit_checkpoints SET signature = signature || '==' WHERE chain = 'checkpoints'`);
    const [, , signature = ""] = (await proveEvent(event))!.head.split(".");
    expect(signature).toMatch(/^[A-Za-z0-9_-]{86}$/);
  });

  test("uses the head with the highest sequence, also if another process recorded an earlier head after it", async () => {
    await signNow();
    const named = await readEvents("checkpoints", 0, 1_000, 1_000);
    const older = named.find(({ entityId }) => entityId === `chain:${chain}`);
    await addEvents(chain, 3);
    await signNow();
    await append("checkpoints", older!);
    await signNow();
    expect((await proveEvent(await eventAt(7)))?.treeSize).toBe(7);
  });

  test("is signed once for many requests, including those that arrive shortly after the first", async () => {
    const first = Array.from({ length: 20 }, () => proveEvent(event));
    await pause(150);
    await addEvents(chain, 1);
    const added = await eventAt(5);
    const later = Array.from({ length: 20 }, () => proveEvent(added));
    for (const proof of await Promise.all([...first, ...later])) expect(proof?.treeSize).toBe(5);
    const heads = await readEvents("checkpoints", 0, 1_000, 1_000);
    expect(heads.filter(({ entityId }) => entityId === `chain:${chain}`)).toHaveLength(1);
  });

  test("is refused if the event was rewritten after its head was signed", async () => {
    await signNow();
    const undo = await rewrite(chain, 2);
    await expect(proveEvent(await eventAt(2))).rejects.toThrow("differs from the log that was signed");
    expect(fatal()).toHaveLength(1);
    await undo();
    expect((await proveEvent(await eventAt(2)))?.leafIndex).toBe(1);
  });

  test("is refused if the text of the event was changed, even before a head was signed", async () => {
    await expect(proveEvent({ ...event, metadata: { forged: true } })).rejects.toThrow("differs from the log that was signed");
  });

  test("never has a head that this service did not sign", async () => {
    await signNow();
    const kept = await readEnds("checkpoints");
    await tamper(`UPDATE audit_checkpoints SET signature = 'AAAA' WHERE chain = 'checkpoints' AND sequence = ${kept!.sequence}`);
    expect(await proveEvent(event)).toBeNull();
    await cutCheckpoints(kept!);
    await tamper(`DELETE FROM audit_checkpoints WHERE chain = 'checkpoints' AND signature = 'AAAA'`);
    await tamper(`DELETE FROM audit_alarms`);
    expect((await proveEvent(event))?.leafIndex).toBe(1);
  });

  test("is not made while the chain has an alarm, which only the worker checks again", async () => {
    await signNow();
    const undo = await rewrite(chain, 4);
    await dropCheckpoints(chain);
    await signNow();
    await undo();
    await addEvents(chain, 1);
    logged.length = 0;
    expect(await proveEvent(await eventAt(5))).toBeNull();
    expect(await findAlarm(chain)).not.toBeNull();
    expect(fatal()).toEqual([]);
    await signNow();
    expect((await proveEvent(await eventAt(5)))?.leafIndex).toBe(4);
  });
});
