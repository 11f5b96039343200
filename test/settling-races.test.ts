import { decodePaymentSignatureHeader } from "@x402/core/http";
import type { FacilitatorClient } from "@x402/core/server";
import { eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { sellers } from "#lib/sellers/tables.ts";
import { noteCommits } from "#test/commits.ts";
import { useDatabase } from "#test/database.ts";
import {
  authorized,
  execute,
  expectedOf,
  newWallet,
  paymentScene,
  signed,
  useSettlement,
  type PaymentScene,
} from "#test/payments.ts";
import { createOfficial, stopNow, type Official } from "#test/platform.ts";
import { brokenInvariants } from "#test/proof.ts";
import { random } from "#test/random.ts";
import { listenService, ourFacilitator, type ListeningServer } from "#test/shop.ts";
import { createAgent, createOrganization, send } from "#test/tenant.ts";

/* This service's facilitator does not settle a payment after the payment was forbidden, even if the seller already has the
   signed payment. */

useDatabase();
const chain = useSettlement();

const RACES = 12;
const PAYMENTS = 4;
const wallet = newWallet();
const next = random(20_261_124);
const moment = (most: number) => new Promise((resolve) => setTimeout(resolve, next() * most));
const policy = { assets: [{ asset: "USDC", chain: "eip155:84532" }], limits: { perPayment: "1", total: "100" } };

let service: ListeningServer;
let operators: readonly Official[];
beforeAll(async () => {
  await chain().mint(wallet.address, 1_000_000_000n);
  service = await listenService();
  operators = await Promise.all([1, 2].map(() => createOfficial("operator")));
  await noteCommits();
});
afterAll(() => service.close());

let turn = 0;

/** Creates another seller that has verified the same domain, and stops the payments to it by emergencyRevoke. */
async function stopTwin({ seller }: PaymentScene) {
  const [own] = await database().select().from(sellers).where(eq(sellers.sellerId, seller.sellerId));
  const twin = { sellerId: newId("seller"), organizationId: await createOrganization("Twin"), verified: true };
  await database()
    .insert(sellers)
    .values({ ...own!, ...twin });
  const stopped = await stopNow(operators[turn++ % operators.length]!, { sellerId: twin.sellerId });
  return { status: stopped.status, entity: twin.sellerId };
}

async function forbid({ person, mandateId, seller }: PaymentScene) {
  const body = { policy: { ...policy, payTo: { deny: [seller.payTo] } } };
  const { status } = await send(mandates.updateMandate, updateMandate, { as: person.credential, id: mandateId, body });
  return { status, entity: mandateId };
}

const ways = {
  "its mandate was changed, and forbids the payee": { event: "mandate.versioned", take: forbid },
  "a seller with the same verified domain was stopped": { event: "seller.suspended", take: stopTwin },
} as const;

type Run = { readonly during: readonly boolean[]; readonly after: boolean; readonly late: number };

async function run({ event, take }: (typeof ways)[keyof typeof ways], most: number): Promise<Run> {
  const scene = await paymentScene({ mandate: { policy } });
  const account = await createAgent(scene.sellerOrganizationId, ["payments:settle"]);
  const facilitator = ourFacilitator(service, account.credential["authorization"] ?? "");
  const payloads = await Promise.all(
    Array.from({ length: PAYMENTS + 1 }, async () => {
      const { authorizationId } = await authorized(scene);
      const paymentCredential = await signed(wallet, expectedOf(scene));
      const { data } = await execute(scene, { authorizationId, paymentCredential });
      expect(data.settlementStatus).toBe("pending");
      return decodePaymentSignatureHeader(paymentCredential);
    }),
  );
  const settling = payloads.slice(1).map(async (payload) => {
    await moment(40);
    return settle(facilitator, payload);
  });
  await moment(most);
  const { status, entity } = await take(scene);
  expect(status).toBe(200);
  const after = await settle(facilitator, payloads[0]!);
  const during = await Promise.all(settling);
  const late = await database().execute(sql`
    SELECT FROM commits a WHERE a.type = 'payment.processing' AND a.mandate_id = ${scene.mandateId} AND a.number > (
      SELECT max(r.number) FROM commits r WHERE r.type = ${event} AND r.entity_id = ${entity})`);
  return { during, after, late: late.length };
}

async function settle(facilitator: FacilitatorClient, payload: Parameters<FacilitatorClient["settle"]>[0]): Promise<boolean> {
  return (await facilitator.settle(payload, payload.accepted)).success;
}

describe("this service's facilitator settles nothing after the reply which says that", () => {
  test.each(Object.entries(ways))("%s, in any order of commits", async (_name, way) => {
    const runs: Run[] = [];
    let most = 40;
    while (runs.length < RACES) {
      const one = await run(way, most);
      runs.push(one);
      const tooLate = one.during.filter(Boolean).length < PAYMENTS / 2;
      most = Math.min(1_000, tooLate ? most * 1.5 : most / 1.5);
    }
    expect(runs.filter(({ late }) => late > 0)).toEqual([]);
    expect(runs.filter(({ after }) => after)).toEqual([]);
    // Some payments must have been settled and some refused; otherwise they did not race.
    expect(new Set(runs.flatMap(({ during }) => during)).size).toBe(2);
    expect(await brokenInvariants()).toEqual([]);
  });
});
