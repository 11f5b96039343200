import { hash } from "node:crypto";
import { eq } from "drizzle-orm";
import { beforeEach, describe, expect, test } from "vitest";
import { slotOf } from "#lib/command/idempotency.ts";
import { idempotency } from "#lib/command/tables.ts";
import { database } from "#lib/db/client.ts";
import * as contract from "#lib/mandates/contract.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { activeMandate, createBuyer, type Buyer } from "#test/mandates.ts";
import { send } from "#test/tenant.ts";

const databaseOf = useDatabase();

let buyer: Buyer;
let mandateId: string;
let key: string;
beforeEach(async () => {
  buyer = await createBuyer();
  mandateId = await activeMandate(buyer.person.credential);
  key = `suspend-${mandateId}`;
});

const suspend = () =>
  send(contract.suspendMandate, suspendMandate, { as: buyer.person.credential, id: mandateId, body: { reason: "Leaked" }, key });
const slot = () =>
  slotOf({ organizationId: buyer.organizationId, environment: "sandbox", operationId: contract.suspendMandate.id, key });
const lockHead = () => `SELECT FROM audit_heads WHERE chain = '${buyer.organizationId}' FOR UPDATE`;

async function stored() {
  const [row] = await database().select().from(mandates).where(eq(mandates.mandateId, mandateId));
  return { status: row?.status, replies: await database().$count(idempotency, eq(idempotency.slot, slot())) };
}

describe("once", () => {
  test("409 only while another request with the same key is open", async () => {
    const twin = await hold(
      databaseOf().url,
      `INSERT INTO idempotency (slot, fingerprint, status, body) VALUES ('${slot()}', '${hash("sha256", "x")}', 200, '{}')`,
    );
    expect((await suspend()).problem).toMatchObject({ status: 409, code: "idempotency_in_flight" });
    await twin.release();
    expect((await suspend()).status).toBe(200);
  });

  test("503 and not 409 if the head of an audit chain stays locked for a second, and nothing is stored", async () => {
    const head = await hold(databaseOf().url, lockHead());
    expect((await suspend()).problem).toMatchObject({ status: 503, code: "overloaded" });
    await head.release();
    expect(await stored()).toEqual({ status: "active", replies: 0 });
    expect((await suspend()).status).toBe(200);
  });

  test("503 after a deadlock: nothing is stored, and the same key works afterwards", async () => {
    const head = await hold(databaseOf().url, `SET LOCAL deadlock_timeout = '20s'; ${lockHead()}`);
    const asked = suspend();
    await head.blocks();
    // The command holds the lock of the mandate and waits for the lock of the audit log. This transaction locks the two in the
    // opposite order, so that there is a deadlock.
    await head.sql.unsafe(`SELECT FROM mandates WHERE mandate_id = '${mandateId}' FOR UPDATE`);
    expect((await asked).problem).toMatchObject({ status: 503, code: "overloaded" });
    await head.release();
    expect(await stored()).toEqual({ status: "active", replies: 0 });
    expect((await suspend()).status).toBe(200);
  });
});
