import { eq } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { allowPaymentOnce } from "#lib/payments/refusals/allow-payment-once.ts";
import { allowPaymentOnce as operation } from "#lib/payments/contract.ts";
import { sellers } from "#lib/sellers/tables.ts";
import { proved } from "#test/proofs.ts";
import { send, type Credential } from "#test/tenant.ts";

export const askAllowOnce = (as: Credential, authorizationId: string, key?: string) =>
  send(operation, allowPaymentOnce, { as, id: authorizationId, ...(key !== undefined && { key }) });

/** Allows the payment with the proof of identity that it asks for. */
export const allowOnce = (as: Credential, authorizationId: string, key?: string) =>
  proved(as, () => askAllowOnce(as, authorizationId, key));

/** Sets whether the seller's domain is verified, which a waiver requires. */
export const setVerified = (sellerId: string, verified = true) =>
  database().update(sellers).set({ verified }).where(eq(sellers.sellerId, sellerId));
