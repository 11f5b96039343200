import { randomBytes } from "node:crypto";
import { eq } from "drizzle-orm";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { call } from "#lib/http/client.ts";
import { newId } from "#lib/ids.ts";
import { authorizePayment } from "#lib/payments/contract.ts";
import { authorizations, executions } from "#lib/holds/tables.ts";
import { resources } from "#lib/sellers/tables.ts";
import type { SettlementStatus } from "#lib/vocabulary.ts";
import { ofAuthorization, setHolds } from "#test/holds.ts";
import type { Purchase } from "./purchase.ts";

/** Sets the shop's price and requests authorization of a payment as the agent. Returns the authorization's id. */
export async function askFor({ agent, mandateId, seller }: Purchase, amount: string): Promise<string> {
  const pricing = { type: "fixed" as const, amount, asset: "USDC" };
  await database().update(resources).set({ pricing }).where(eq(resources.sellerId, seller.sellerId));
  const id = randomBytes(8).toString("hex");
  const intent = {
    intentId: id,
    nonce: id,
    idempotencyKey: id,
    seller: { sellerId: seller.sellerId },
    resource: { resourceId: "report" },
    amount,
    asset: "USDC",
    expiresAt: new Date(Date.now() + 900_000).toISOString(),
  };
  const asked = { baseUrl: process.env["BASE_URL"] ?? "", headers: agent.credential };
  return (await call(authorizePayment, { body: { mandateId, intent } }, asked)).authorizationId;
}

/**
 * Inserts an execution whose signed payment was returned to the agent, with this settlement status, as the service would.
 * Returns the payment's nonce, which is also the transaction's hash if the payment is settled.
 */
export async function submitted(authorizationId: string, settlementStatus: SettlementStatus): Promise<string> {
  const hash = `0x${randomBytes(32).toString("hex")}`;
  const [row] = await database().select().from(authorizations).where(eq(authorizations.authorizationId, authorizationId));
  if (!row) throw new Error("There is no such authorization.");
  const settled = settlementStatus === "settled";
  const { organizationId, environment, mandateId, subjectId, settlementMode } = row;
  const executionId = newId("execution");
  await database()
    .insert(executions)
    .values({
      executionId,
      authorizationId,
      organizationId,
      environment,
      mandateId,
      subjectId,
      settlementMode,
      settlementStatus,
      nonce: hash,
      settlementReference: settled ? hash : null,
      resolvedAt: settled ? new Date() : null,
      nextCheckAt: settled ? null : new Date(Date.now() + 3_600_000),
    });
  await setHolds(ofAuthorization(authorizationId), { status: "submitted" });
  if (!settled) return hash;
  await setHolds(ofAuthorization(authorizationId), { status: "captured", resolvedAt: new Date() });
  const event = { type: "payment.settled", actorId: "service", organizationId, entityType: "execution", entityId: executionId };
  await transact(async (tx) =>
    audit(tx, { ...event, metadata: { authorizationId, mandateId, settlementReference: hash } }, await clock(tx)),
  );
  return hash;
}
