import { afterEach, describe, expect, test } from "vitest";
import { newestCheckpoint, selectCheckpoints } from "#lib/audit/checkpoint-store.ts";
import { signCheckpoints } from "#lib/audit/sign-checkpoints.ts";
import { publicKeys, signingKeyOf, signingKeys } from "#lib/audit/signing-key.ts";
import { mainPool, pool } from "#lib/db/client.ts";
import * as contract from "#lib/platform/contract.ts";
import { verifyPlatformAudit } from "#lib/platform/verify-platform-audit.ts";
import { forget, perProcess } from "#lib/process.ts";
import { useDatabase } from "#test/database.ts";
import { chainOfEvents } from "#test/mandates.ts";
import { createOfficial, type Official } from "#test/platform.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const verify = async ({ credential }: Official, chain?: string) =>
  (await send(contract.verifyPlatformAudit, verifyPlatformAudit, { as: credential, body: { chain } })).data;
const signNow = () => signCheckpoints({ afterSeconds: 0, afterEvents: 1 });

/** Changes rows as an attacker with the database's password could, without running the triggers. */
const tamper = async (statement: string): Promise<void> => {
  await mainPool().begin(async (sql) => {
    await sql`SET LOCAL session_replication_role = replica`;
    await sql.unsafe(statement);
  });
};

const newKey = () => signingKeyOf(Buffer.alloc(32, 7).toString("base64url"));

const chainOfFour = () => chainOfEvents(4);

describe("verifyPlatformAudit against signed checkpoints", () => {
  afterEach(() => forget("audit/signing-key"));

  test("a reply names the checkpoint from which the chain was verified; an unchanged head is signed once", async () => {
    const admin = await createOfficial("admin");
    const organizationId = await chainOfFour();
    expect((await verify(admin, organizationId)).checkpoint).toBeUndefined();
    await signNow();
    expect(await signNow()).toBe(0);
    const verified = await verify(admin, organizationId);
    expect(verified).toMatchObject({ valid: true, count: 4, checkpoint: { sequence: 4, hash: verified.head } });
  });

  test("events that were removed at the end are detected, although the rest of the chain is consistent", async () => {
    const admin = await createOfficial("admin");
    const chain = await chainOfFour();
    await signNow();
    await tamper(`DELETE FROM audit_entries WHERE chain = '${chain}' AND sequence > 2`);
    await tamper(`UPDATE audit_heads h SET sequence = 2, hash = e.node, peaks = encode(decode(e.node, 'hex'), 'base64')
      FROM audit_entries e WHERE h.chain = '${chain}' AND e.chain = h.chain AND e.sequence = 2`);
    const found = await verify(admin, chain);
    expect(found).toMatchObject({ valid: false, count: 2, badChain: chain, firstBad: { sequence: 3 } });
    const all = await verify(admin);
    expect([all.valid, all.badChain, all.chains > 1]).toEqual([false, chain, true]);
    await tamper(`DELETE FROM audit_entries WHERE chain = '${chain}'; DELETE FROM audit_heads WHERE chain = '${chain}'`);
    expect((await verify(admin, chain)).firstBad?.sequence).toBe(1);
    await tamper(`DELETE FROM audit_checkpoints WHERE chain = '${chain}'`);
  });

  test("a rewritten chain and a forged checkpoint are detected", async () => {
    const admin = await createOfficial("admin");
    const chain = await chainOfFour();
    await signNow();
    await tamper(`UPDATE audit_checkpoints SET hash = repeat('0', 64) WHERE chain = '${chain}'`);
    expect((await verify(admin, chain)).firstBad?.detail).toBe("The chain differs from its signed checkpoint here.");
    await tamper(
      `UPDATE audit_checkpoints c SET hash = h.hash, signature = 'AAAA' FROM audit_heads h WHERE h.chain = c.chain AND c.chain = '${chain}'`,
    );
    expect((await verify(admin, chain)).firstBad?.detail).toContain("not signed by this installation's key");
  });

  test("after a change of the key every head of a chain is signed again", async () => {
    const admin = await createOfficial("admin");
    const chain = await chainOfFour();
    await signNow();
    forget("audit/signing-key");
    const [key] = perProcess("audit/signing-key", () => [newKey()]);
    expect((await verify(admin, chain)).valid).toBe(false);
    expect(await signNow()).toBeGreaterThan(0);
    expect((await newestCheckpoint(chain))?.keyId).toBe(key.keyId);
    expect((await verify(admin, chain)).valid).toBe(true);
  });

  test("an earlier key stays published, so its signatures stay valid, and the new key signs from then on", async () => {
    const admin = await createOfficial("admin");
    const chain = await chainOfFour();
    await signNow();
    const before = signingKeys();
    forget("audit/signing-key");
    const [key] = perProcess("audit/signing-key", () => [newKey(), ...before]);
    expect((await verify(admin, chain)).valid).toBe(true);
    await signNow();
    expect((await newestCheckpoint(chain))?.keyId).toBe(key.keyId);
    expect(await selectCheckpoints(chain, 0, 1)).toHaveLength(2);
    expect((await verify(admin, chain)).valid).toBe(true);
    expect(publicKeys().keys.map(({ kid }) => kid)).toEqual([key.keyId, before[0]!.keyId]);
  });

  test("a checkpoint cannot be changed or removed", async () => {
    await chainOfFour();
    await signNow();
    for (const statement of [
      "DELETE FROM audit_checkpoints",
      "UPDATE audit_checkpoints SET hash = ''",
      "TRUNCATE audit_checkpoints",
    ])
      await expect(pool().unsafe(statement)).rejects.toThrow(/append-only|refused/);
  });
});
