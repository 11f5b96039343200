import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import * as auditContract from "#lib/audit/contract.ts";
import { listAuditEvents } from "#lib/audit/list-audit-events.ts";
import { signCheckpoints } from "#lib/audit/sign-checkpoints.ts";
import { publicKeys } from "#lib/audit/signing-key.ts";
import { verifyAudit } from "#lib/audit/verify-audit.ts";
import type { AuditEvent } from "#lib/audit-event.ts";
import { canonicalJson } from "#lib/canonical-json.ts";
import { pool } from "#lib/db/client.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { getPaymentReceipt as receiptContract } from "#lib/payments/receipts/contract.ts";
import { getPaymentReceipt } from "#lib/payments/receipts/get-payment-receipt.ts";
import { verifyPlatformAudit as platformContract } from "#lib/platform/contract.ts";
import { verifyPlatformAudit } from "#lib/platform/verify-platform-audit.ts";
import { verifyReceipt } from "#lib/receipts/verify-receipt.ts";
import { quoted, tamper } from "#test/audit-tampering.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, authorize, createBuyer, type Buyer } from "#test/mandates.ts";
import { createOfficial } from "#test/platform.ts";
import { send } from "#test/tenant.ts";
import * as packaged from "../sdk/src/verify-receipt.ts";

useDatabase();

const WHY = "Ada Lovelace asked us to wait";

let buyer: Buyer;
let mandateId: string;
let silent: readonly string[];
let authorizationId: string;

const as = () => buyer.person.credential;
const suspension = async (of = mandateId): Promise<AuditEvent> => {
  const query = `?entityId=${of}`;
  const { data } = await send(auditContract.listAuditEvents, listAuditEvents, { as: as(), query });
  return data.items.find(({ type }) => type === "mandate.suspended")!;
};
const suspend = (id: string, reason: string) => send(mandates.suspendMandate, suspendMandate, { as: as(), id, body: { reason } });
const receipt = async () => (await send(receiptContract, getPaymentReceipt, { as: as(), id: authorizationId })).data;
const verify = async () => (await send(auditContract.verifyAudit, verifyAudit, { as: as() })).data;
const verifyAsOfficial = async () => {
  const { credential } = await createOfficial("admin");
  return (await send(platformContract, verifyPlatformAudit, { as: credential, body: { chain: buyer.organizationId } })).data;
};

const sha256 = (...parts: (string | Buffer)[]): string =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest("hex");

/** The leaf hash as the description of `hash` in audit-event.ts says, computed only from the event in an API reply. */
function leafOf(shown: AuditEvent): string {
  const { hash: _, salts: __, metadata, ...event } = shown;
  const kept = Object.fromEntries(Object.entries(metadata).filter(([name]) => !(name in (event.commitments ?? {}))));
  return sha256(Buffer.of(0), canonicalJson({ ...event, metadata: kept }));
}

describe("personal texts of the audit log", () => {
  beforeAll(async () => {
    buyer = await createBuyer();
    mandateId = await activeMandate(as());
    silent = [await activeMandate(as()), await activeMandate(as())];
    ({ authorizationId } = await authorize(buyer, mandateId));
    await suspend(mandateId, WHY);
    for (const id of silent) await suspend(id, "No");
    await signCheckpoints({ afterSeconds: 0, afterEvents: 1 });
  });

  test("are shown with salt and commitment, and the event's hash can be computed from the API reply", async () => {
    const shown = await suspension();
    expect(shown.metadata["reason"]).toBe(WHY);
    expect(shown.hash).toBe(leafOf(shown));
    expect(shown.commitments).toEqual({ reason: sha256(Buffer.from(shown.salts!["reason"]!, "hex"), JSON.stringify(WHY)) });
  });

  test("cannot be guessed from the event: equal texts have different commitments, and the salt is stored beside the text", async () => {
    const rows = await pool()<{ entry: string; salt: string; commitment: string }[]>`
      SELECT row_to_json(e)::text AS entry, encode(t.salt, 'hex') AS salt, e.commitments ->> 'reason' AS commitment
      FROM audit_entries e JOIN audit_texts t USING (chain, sequence) WHERE e.entity_id IN ${pool()(silent)} AND t.text = '"No"'`;
    expect(rows).toHaveLength(2);
    expect(new Set(rows.flatMap(({ salt, commitment }) => [salt, commitment])).size).toBe(4);
    for (const { entry, salt, commitment } of rows) {
      expect(salt).toMatch(/^[0-9a-f]{64}$/);
      expect(entry).not.toContain(salt);
      expect(entry).not.toContain("No");
      expect([sha256("No"), sha256('"No"')]).not.toContain(commitment);
    }
  });

  test.each([
    ["text", `text = '"Ada agreed"'`],
    ["salt", "salt = decode(repeat('00', 32), 'hex')"],
  ])("fail the verification if somebody changed the %s", async (column, change) => {
    const where = `chain = ${quoted(buyer.organizationId)} AND text = ${quoted(JSON.stringify(WHY))}`;
    await tamper(
      `CREATE TABLE kept AS SELECT * FROM audit_texts WHERE ${where}`,
      `UPDATE audit_texts SET ${change} WHERE ${where}`,
    );
    const [bad] = await pool()<{ sequence: string }[]>`SELECT sequence FROM kept`;
    const firstBad = { sequence: Number(bad!.sequence), detail: "A text of the event differs from its commitment." };
    expect(await verify()).toMatchObject({ valid: false, firstBad });
    expect(await verifyAsOfficial()).toMatchObject({ valid: false, firstBad });
    await tamper(
      `UPDATE audit_texts t SET ${column} = k.${column} FROM kept k WHERE t.chain = k.chain AND t.sequence = k.sequence`,
      "DROP TABLE kept",
    );
    expect((await verify()).valid).toBe(true);
  });

  test("can be erased but not changed, and the log and all receipts still verify", async () => {
    const [earlier, before] = [await receipt(), await suspension()];
    for (const refused of ["UPDATE audit_texts SET text = '1'", "TRUNCATE audit_texts"])
      await expect(pool().unsafe(refused)).rejects.toMatchObject({ code: "23001" });
    await pool()`DELETE FROM audit_texts WHERE chain = ${buyer.organizationId}`;
    const { salts: _, ...rest } = before;
    const after = await suspension();
    expect(after).toEqual({ ...rest, metadata: { ...before.metadata, reason: "erased" } });
    expect(leafOf(after)).toBe(before.hash);
    const signed = (await verify()).checkpoint?.sequence;
    await authorize(buyer, mandateId);
    expect(await signCheckpoints({ afterSeconds: 0, afterEvents: 1 })).toBeGreaterThan(0);
    expect(await verify()).toMatchObject({ valid: true, checkpoint: { sequence: signed! + 1 } });
    expect(await verifyAsOfficial()).toMatchObject({ valid: true });
    for (const answer of [earlier, await receipt()]) {
      expect(await verifyReceipt(answer, publicKeys())).toMatchObject({ ok: true, withProof: true });
      expect(await packaged.verifyReceipt(answer, publicKeys())).toMatchObject({ ok: true, step: "head" });
    }
  });
});
