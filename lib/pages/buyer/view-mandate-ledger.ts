import type { Page, PageQuery } from "#lib/http/paging.ts";
import type { Asker, AskerReader } from "#lib/identity/asker.ts";
import { askersOf } from "#lib/identity/subject-name-store.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { viewLedger } from "#lib/mandates/list-mandate-ledger.ts";
import type { LedgerEntry } from "#lib/mandates/mandate-schema.ts";
import { reading } from "#lib/mandates/store.ts";
import { displayAmount } from "#lib/money.ts";
import { partiesOf } from "#lib/pages/buyer/mandates/ledger-store.ts";

/** `seller` contains untrusted text. */
export type LedgerLine = LedgerEntry & {
  readonly seller: { readonly domain?: string; readonly name?: string };
  readonly payTo: string | null;
  readonly asker: Asker;
  /** The price and the buyer's share of the fee, such as "0.25 EURC", if the entry is in the unit of the mandate. */
  readonly charge: string | null;
};

type Party = Awaited<ReturnType<typeof partiesOf>>[number];

const chargeIn = (entry: LedgerEntry, party: Party | undefined): string | null =>
  party && party.asset !== entry.asset ? displayAmount(party.charge, decimalsOf(party), party.asset) : null;

/** Newest first. @throws Problem not_found, invalid_request for an invalid cursor */
export async function viewMandateLedger(scope: AskerReader, mandateId: string, query: PageQuery): Promise<Page<LedgerLine>> {
  const { items, ...rest } = await viewLedger(scope, mandateId, query);
  const ids = [...new Set(items.map(({ authorizationId }) => authorizationId))];
  return reading(async (tx) => {
    const parties = new Map((await partiesOf(tx, scope, ids)).map((row) => [row.authorizationId, row]));
    const agents = [...parties.values()].map(({ subjectId }) => subjectId);
    const askerOf = await askersOf(tx, scope, agents);
    const lines = items.map((entry): LedgerLine => {
      const party = parties.get(entry.authorizationId);
      const { seller, payTo = null, subjectId = "" } = party ?? {};
      return { ...entry, seller: seller ?? {}, payTo, asker: askerOf(subjectId), charge: chargeIn(entry, party) };
    });
    return { items: lines, ...rest };
  });
}
