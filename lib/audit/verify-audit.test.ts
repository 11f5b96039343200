import postgres, { type Sql } from "postgres";
import { beforeAll, describe, expect, test } from "vitest";
import { genesis } from "#lib/audit/chain.ts";
import * as contract from "#lib/audit/contract.ts";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import { verifyAudit as handler } from "#lib/audit/verify-audit.ts";
import { pool } from "#lib/db/client.ts";
import { useDatabase } from "#test/database.ts";
import { newKey } from "#test/identity.ts";
import { createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

const databaseOf = useDatabase();

type Chain = { readonly organizationId: string; readonly credential: Credential };

const verify = async (as: Pick<Chain, "credential">) => {
  const { status, data } = await send(contract.verifyAudit, handler, { as: as.credential });
  expect(status).toBe(200);
  return data;
};

/** Makes an organization with an audit log of `length` events. Their texts have characters that are hard to store unchanged. */
async function chainOf(length: number): Promise<Chain> {
  const organizationId = await createOrganization();
  const { credential } = await createPerson(organizationId);
  await transact(async (tx) => {
    const now = await clock(tx);
    for (let at = 1; at <= length; at += 1) {
      const metadata = { at, text: `Ωé"\\\n${at}`, amount: "0.10", tiny: 1e-7, list: [null, true, { z: 1, a: 2 }] };
      const event = { actorId: "usr_x", organizationId, entityType: "mandate", entityId: `mdt_${at}`, metadata };
      audit(tx, { ...event, type: "mandate.created" }, now);
    }
  });
  return { organizationId, credential };
}

/** Changes rows of audit_entries as the database's owner can, while the triggers that refuse changes are disabled. */
async function tamper(work: (sql: Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(databaseOf().url, { max: 1 });
  await sql`ALTER TABLE audit_entries DISABLE TRIGGER USER`;
  await work(sql);
  await sql`ALTER TABLE audit_entries ENABLE TRIGGER USER`;
  await sql.end();
}

describe("verifyAudit", () => {
  let owner: Chain;
  beforeAll(async () => {
    owner = await chainOf(5);
  });

  test("an unchanged chain is verified to its newest hash, over more than one batch", async () => {
    const long = await chainOf(1201);
    const [head] = await pool()<{ hash: string }[]>`SELECT hash FROM audit_heads WHERE chain = ${long.organizationId}`;
    expect(await verify(long)).toEqual({ valid: true, count: 1201, head: head?.hash });
  });

  const change = (column: string, value: string) => (sql: Sql, chain: string) =>
    sql`UPDATE audit_entries SET ${sql(column)} = ${value} WHERE chain = ${chain} AND sequence = 3`;

  test.each([
    ["the actor", change("actor_id", "usr_y")],
    ["the type", change("type", "mandate.revoked")],
    ["the entity", change("entity_id", "mdt_4")],
    ["the subject", change("subject_id", "usr_y")],
    ["the organization", change("organization_id", "org_y")],
    ["the event's id", change("audit_event_id", "aud_y")],
    [
      "the time",
      (sql: Sql, chain: string) =>
        sql`UPDATE audit_entries SET created_at = created_at + interval '1 ms' WHERE chain = ${chain} AND sequence = 3`,
    ],
    [
      "one byte of the metadata",
      (sql: Sql, chain: string) =>
        sql`UPDATE audit_entries SET metadata = replace(metadata::text, '0.10', '0.11')::json WHERE chain = ${chain} AND sequence = 3`,
    ],
    [
      "one byte of the hash",
      (sql: Sql, chain: string) =>
        sql`UPDATE audit_entries SET hash = CASE WHEN left(hash, 1) = '0' THEN '1' ELSE '0' END || substr(hash, 2) WHERE chain = ${chain} AND sequence = 3`,
    ],
  ])("a change of %s is found at its event", async (_, work) => {
    const victim = await chainOf(5);
    await tamper((sql) => work(sql, victim.organizationId));
    expect(await verify(victim)).toMatchObject({ valid: false, count: 2, firstBad: { sequence: 3 } });
    expect((await verify(owner)).valid).toBe(true);
  });

  test("a change of the tree that is stored beside the events is found", async () => {
    const [nodes, peaks] = [await chainOf(5), await chainOf(5)];
    await tamper(async (sql) => {
      await sql`UPDATE audit_entries SET node = repeat('0', 64) WHERE chain = ${nodes.organizationId} AND sequence = 4`;
      await sql`UPDATE audit_heads SET peaks = encode(decode(repeat('0', 128), 'hex'), 'base64') WHERE chain = ${peaks.organizationId}`;
    });
    expect(await verify(nodes)).toMatchObject({ valid: false, count: 3, firstBad: { sequence: 4 } });
    expect(await verify(peaks)).toMatchObject({ valid: false, count: 5, firstBad: { sequence: 5 } });
  });

  test("a removed event in the middle is found, whether the later ones were renumbered or not", async () => {
    const [gap, moved] = [await chainOf(5), await chainOf(5)];
    await tamper((sql) => sql`DELETE FROM audit_entries WHERE chain = ${gap.organizationId} AND sequence = 3`);
    expect(await verify(gap)).toMatchObject({ valid: false, count: 2, firstBad: { sequence: 3 } });
    await tamper(async (sql) => {
      await sql`DELETE FROM audit_entries WHERE chain = ${moved.organizationId} AND sequence = 3`;
      for (const at of [4, 5])
        await sql`UPDATE audit_entries SET sequence = ${at - 1} WHERE chain = ${moved.organizationId} AND sequence = ${at}`;
    });
    expect(await verify(moved)).toMatchObject({ valid: false, count: 2, firstBad: { sequence: 3 } });
  });

  test("removed last events, a removed chain and an event added after the end are found", async () => {
    const [tail, all, more] = [await chainOf(5), await chainOf(5), await chainOf(5)];
    await tamper(async (sql) => {
      await sql`DELETE FROM audit_entries WHERE chain = ${tail.organizationId} AND sequence = 5`;
      await sql`DELETE FROM audit_entries WHERE chain = ${all.organizationId}`;
      await sql`
        INSERT INTO audit_entries SELECT chain, 6, 'aud_6', type, actor_id, organization_id, subject_id, entity_type, entity_id, metadata, hash, node, created_at
        FROM audit_entries WHERE chain = ${more.organizationId} AND sequence = 5`;
    });
    expect(await verify(tail)).toMatchObject({ valid: false, count: 4, firstBad: { sequence: 5 } });
    expect(await verify(all)).toMatchObject({ valid: false, count: 0, head: genesis.hash, firstBad: { sequence: 1 } });
    expect(await verify(more)).toMatchObject({ valid: false, count: 5, firstBad: { sequence: 6 } });
  });

  test.each([499, 500, 501])("an authorization that was added with the number %i of another event is found", async (sequence) => {
    const forged = await chainOf(510);
    await tamper(
      (sql) => sql`
        INSERT INTO authorizations (authorization_id, organization_id, environment, mandate_id, policy_version, subject_id, intent_id, nonce,
          outcome, intent, terms_id, slot, fingerprint, findings, amount, buyer_share, seller_share, asset, chain, settlement_mode,
          max_timeout_seconds, held, buckets, request_id, sequence, hash, expires_at)
        VALUES ('aut_' || ${sequence}::text, ${forged.organizationId}, 'sandbox', 'mdt_x', 1, 'sa_x', 'i' || ${sequence}::text, 'n' || ${sequence}::text, 'allow', '{"amount":"1"}', 't',
          'slot' || ${sequence}::text, 'f', '[]', 1, 0, 0, 'USDC', 'eip155:84532', 'offchainAuthorized', 60, true, '[]', 'req_x', ${sequence}, 'h', now())`,
    );
    expect((await verify(forged)).valid).toBe(false);
  });

  test("events that are appended during a verification do not disturb it", async () => {
    const busy = await chainOf(700);
    const appending = Promise.all(Array.from({ length: 20 }, () => newKey(busy)));
    const replies = [await verify(busy), await verify(busy)];
    await appending;
    expect([...replies, await verify(busy)].map(({ valid }) => valid)).toEqual([true, true, true]);
    expect((await verify(busy)).count).toBe(720);
  });

  test("UPDATE, DELETE and TRUNCATE are refused", async () => {
    const sql = pool();
    for (const statement of ["UPDATE audit_entries SET actor_id = 'x'", "DELETE FROM audit_entries", "TRUNCATE audit_entries"]) {
      await expect(sql.unsafe(statement)).rejects.toMatchObject({ code: "23001" });
    }
    expect((await verify(owner)).valid).toBe(true);
  });

  test("403 without audit:read, and each organization sees only its own chain", async () => {
    const approver = await createPerson(owner.organizationId, "approver");
    expect((await send(contract.verifyAudit, handler, { as: approver.credential })).problem.code).toBe("capability_required");
    const other = await chainOf(1);
    expect(await verify(other)).toMatchObject({ valid: true, count: 1 });
    expect(await verify(await newKey(other, ["audit:read"]))).toMatchObject({ valid: true, count: 2 });
  });

  test("503 while other chains are verified, so that payments keep a processor core", async () => {
    const long = await chainOf(3000);
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => send(contract.verifyAudit, handler, { as: long.credential })),
    );
    const statuses = replies.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
    expect(statuses.filter((status) => status === 503)).toHaveLength(3);
    expect((await verify(long)).valid).toBe(true);
  });
});
