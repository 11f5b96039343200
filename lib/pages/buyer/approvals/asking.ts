import type { Tx } from "#lib/db/client.ts";
import { askingRecords } from "#lib/holds/record-store.ts";
import type { Asker, AskerReader } from "#lib/identity/asker.ts";
import { askersOf } from "#lib/identity/subject-name-store.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { displayAmount } from "#lib/money.ts";
import { partiesOf } from "#lib/pages/buyer/mandates/ledger-store.ts";
import { namesOfMandates } from "#lib/pages/buyer/payments/page-store.ts";
import type { RecordQuestion } from "#lib/payments/payment-schema.ts";
import { toWire } from "#lib/time.ts";
import type { z } from "zod";

/** A payment that is made elsewhere, about which a person is asked. `payee` and `mandate` are untrusted text. */
export type AskingPayment = {
  readonly authorizationId: string;
  readonly asks: z.infer<typeof RecordQuestion>;
  readonly payee: string;
  /** As formatted text, such as "300.00 USD". */
  readonly amount: string;
  readonly paid: string;
  readonly asker: Asker;
  readonly mandate: string;
  readonly deadline: string;
};

/** The oldest first. */
export async function askingPayments(tx: Tx, scope: AskerReader, limit: number): Promise<readonly AskingPayment[]> {
  const rows = await askingRecords(tx, scope, limit);
  if (rows.length === 0) return [];
  const parties = await partiesOf(
    tx,
    scope,
    rows.map(({ authorizationId }) => authorizationId),
  );
  const byId = new Map(parties.map((one) => [one.authorizationId, one]));
  const askerOf = await askersOf(
    tx,
    scope,
    parties.map(({ subjectId }) => subjectId),
  );
  const mandates = await namesOfMandates(
    tx,
    scope,
    rows.map(({ mandateId }) => mandateId),
  );
  return rows.flatMap(({ authorizationId, asks, paid, mandateId, deadline }) => {
    const of = byId.get(authorizationId);
    if (of === undefined) return [];
    const text = (amount: bigint) => displayAmount(amount, decimalsOf(of), of.asset);
    return {
      authorizationId,
      asks: asks as AskingPayment["asks"],
      payee: of.seller?.domain ?? of.seller?.name ?? "an unknown payee",
      amount: text(of.charge),
      paid: text(paid),
      asker: askerOf(of.subjectId),
      mandate: mandates.get(mandateId) ?? mandateId,
      deadline: toWire(deadline),
    };
  });
}
