import { sql } from "drizzle-orm";
import { onTestFinished } from "vitest";
import type { LocalChain } from "../../examples/chain.ts";
import { startSeller } from "../../examples/seller.ts";
import { database } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import { freePort } from "#test/free-port.ts";
import { activeMandate, assets, CHAIN, type Buyer } from "#test/mandates.ts";
import { newClient } from "#test/mcp.ts";
import { register } from "#test/registered.ts";
import { startServer } from "#test/server.ts";
import { stockFacilitator } from "#test/shop.ts";
import { delegated, newKey, type Contracts } from "#test/smart-account.ts";
import { createAgent } from "#test/tenant.ts";

type Scene = { readonly chain: LocalChain; readonly contracts: Contracts; readonly buyer: Buyer };

/**
 * Starts a seller made with the x402 library, and creates a mandate that is registered on the chain for this seller. If
 * `fails`, the seller's facilitator does not answer about the first payment until `fail` is called.
 */
export async function paidPage({ chain, contracts, buyer }: Scene, fails: boolean) {
  const payTo = newKey().address;
  const stock = await stockFacilitator(chain);
  const shown = Promise.withResolvers<void>();
  const killed = Promise.withResolvers<never>();
  killed.promise.catch(() => {});
  let isFirst = fails;
  const verify: typeof stock.verify = async (...payment) => {
    if (!isFirst) return stock.verify(...payment);
    isFirst = false;
    shown.resolve();
    return killed.promise;
  };
  const port = await freePort();
  const seller = await startSeller({ facilitator: { ...stock, verify }, payTo, port });
  onTestFinished(() => seller.close());
  const account = await delegated(chain, contracts.implementation);
  await chain.mint(account.address, 1_000_000n);
  const policy = { assets, limits: { perPayment: "1", total: "10" }, sellers: { unregistered: "allow" } };
  const wallet = { chain: CHAIN, address: account.address };
  const mandateId = await activeMandate(buyer.person.credential, { policy, wallet });
  await register(chain, contracts, account, { mandateId, organizationId: buyer.organizationId, payTo });
  const agent = await createAgent(buyer.organizationId, [
    "mandates:read",
    "payments:authorize",
    "payments:execute",
    "payments:read",
  ]);
  const start = async () => {
    const server = await startServer({ OUTBOUND_LOOPBACK: `127.0.0.1:${port}` });
    onTestFinished(() => server.kill());
    const { call } = await newClient(server.url, agent.credential);
    return { server, fetchPaid: () => call("fetch_paid", { url: `${seller.url}/report`, mandateId }) };
  };
  const payments = () =>
    database()
      .select({ status: executions.settlementStatus })
      .from(executions)
      .where(sql`mandate_id = ${mandateId}`);
  const fail = () => killed.reject(new Error("The seller has failed too."));
  return { seller, start, payments, shown: shown.promise, fail, balance: () => chain.balanceOf(payTo) };
}
