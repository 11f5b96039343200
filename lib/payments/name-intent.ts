import { ClientId } from "#lib/ids.ts";
import type { AskedIntent, NamedIntent } from "#lib/payment-intent.ts";
import { isUnitChain } from "#lib/money.ts";
import { invalidField } from "#lib/problem.ts";

const names = ["intentId", "nonce"] as const;
const ofRecords = ["payee", "reference"] as const;
const ofChallenges = ["resource", "challenge", "payTo"] as const;

/** A payment that is made elsewhere has a payee, and no 402. @throws Problem invalid_request */
function requireFields(intent: AskedIntent): void {
  const { paymentChallengeType, seller, chain, enforcementPath } = intent;
  const isRecord = paymentChallengeType === "record";
  const wrong = (isRecord ? ofChallenges : ofRecords).find((name) => intent[name] !== undefined);
  const other = isRecord ? "a payment that is made elsewhere" : "a payment with a 402";
  if (wrong !== undefined) throw invalidField(`/intent/${wrong}`, `Leave it out: ${other} has none.`);
  if (isRecord !== (chain !== undefined && isUnitChain(chain))) {
    const detail = isRecord
      ? "A payment that is made elsewhere names its currency as chain, such as iso4217:USD."
      : "Payments in this currency are made elsewhere: send paymentChallengeType record.";
    throw invalidField("/intent/chain", detail);
  }
  if (!isRecord) return;
  if (enforcementPath !== "offchain") throw invalidField("/intent/enforcementPath", "This payment is made on no chain.");
  if (intent.reference === undefined)
    throw invalidField("/intent/reference", "Name what is paid, such as the number of the invoice.");
  if (seller.sellerId === undefined && seller.name === undefined)
    throw invalidField("/intent/seller", "Name the seller, by its id or its name.");
}

/** The key stands for a missing intentId or nonce, so it must be a valid id then. @throws Problem invalid_request */
export function nameIntent(intent: AskedIntent, key: string): NamedIntent {
  const missing = names.find((name) => intent[name] === undefined);
  if (missing !== undefined && !ClientId.safeParse(key).success) {
    throw invalidField(
      `/intent/${missing}`,
      `Send the ${missing}, or an idempotency key of 1 to 128 letters, digits and the characters _ . : - to stand for it.`,
    );
  }
  requireFields(intent);
  return { ...intent, intentId: intent.intentId ?? key, nonce: intent.nonce ?? key };
}
