import type { Handler } from "#lib/http/operation.ts";
import { viewReceived } from "#lib/pages/view-received.ts";
import type * as contract from "#lib/settlement/contract.ts";

export const listSettlements: Handler<typeof contract.listSettlements> = async ({ query }, { caller }) => {
  const { nonce, ...filter } = query;
  const { items, ...rest } = await viewReceived(caller, { ...filter, nonce: nonce?.toLowerCase() });
  return { items: items.map(({ paymentId, ...item }) => ({ settlementId: paymentId, ...item })), ...rest };
};
