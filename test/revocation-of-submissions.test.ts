import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import * as identity from "#lib/identity/keys/contract.ts";
import { revokeServiceAccount } from "#lib/identity/keys/revoke-service-account.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { archiveResource } from "#lib/sellers/resources/archive-resource.ts";
import * as sellers from "#lib/sellers/contract.ts";
import { sweepHolds } from "#lib/settlement/sweep.ts";
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
import { brokenInvariants } from "#test/proof.ts";
import { random } from "#test/random.ts";
import { send } from "#test/tenant.ts";

/* A payment that was authorized before is not submitted after a right that it needs was taken away. */

useDatabase();
const chain = useSettlement();

const RACES = 16;
const PAYMENTS = 4;
const wallet = newWallet();
const next = random(20_261_122);
const moment = (most = 40) => new Promise((resolve) => setTimeout(resolve, next() * most));

beforeAll(async () => {
  await chain().mint(wallet.address, 1_000_000_000n);
  await noteCommits();
});

type Right = {
  readonly event: string;
  readonly take: (scene: PaymentScene) => Promise<{ status: number }>;
  readonly refusals: string[];
};

const policy = { assets: [{ asset: "USDC", chain: "eip155:84532" }], limits: { perPayment: "1", total: "100" } };

const owner = ({ person }: PaymentScene) => ({ as: person.credential });

const rights: Readonly<Record<string, Right>> = {
  "a mandate is revoked": {
    event: "mandate.revoked",
    take: (scene) => send(mandates.revokeMandate, revokeMandate, { ...owner(scene), id: scene.mandateId }),
    refusals: ["mandate_revoked"],
  },
  "a mandate is suspended": {
    event: "mandate.suspended",
    take: (scene) => send(mandates.suspendMandate, suspendMandate, { ...owner(scene), id: scene.mandateId }),
    refusals: ["mandate_not_active"],
  },
  "a service account is revoked": {
    event: "serviceAccount.revoked",
    take: (scene) =>
      send(identity.revokeServiceAccount, revokeServiceAccount, { ...owner(scene), id: scene.agent.serviceAccountId }),
    // A request that was authenticated right before the revocation gets `forbidden`.
    refusals: ["api_key_invalid", "forbidden"],
  },
  "a mandate is changed, and forbids the payee": {
    event: "mandate.versioned",
    take: (scene) => {
      const body = { policy: { ...policy, payTo: { deny: [scene.seller.payTo] } } };
      return send(mandates.updateMandate, updateMandate, { ...owner(scene), id: scene.mandateId, body });
    },
    refusals: ["policy_denied"],
  },
  "a mandate is changed, and what is open is canceled": {
    event: "mandate.versioned",
    take: (scene) => {
      const body = { policy: { ...policy, sellers: { deny: [scene.seller.sellerId] } }, cancelOpen: true };
      return send(mandates.updateMandate, updateMandate, { ...owner(scene), id: scene.mandateId, body });
    },
    refusals: ["authorization_consumed", "policy_denied"],
  },
  "a resource is archived": {
    event: "resource.archived",
    take: ({ seller, owner: { credential } }) =>
      send(sellers.archiveResource, archiveResource, {
        as: credential,
        id: seller.resourceId,
        body: { sellerId: seller.sellerId },
      }),
    refusals: ["policy_denied"],
  },
};

type Run = { readonly during: readonly string[]; readonly after: string; readonly late: number };

/** Revokes the right at most `most` milliseconds after the first payment may begin. */
async function run({ event, take }: Right, most: number): Promise<Run> {
  const scene = await paymentScene({ mandate: { policy } });
  const payments = await Promise.all(Array.from({ length: PAYMENTS + 1 }, () => authorized(scene)));
  const credentials = await Promise.all(payments.map(() => signed(wallet, expectedOf(scene))));
  const pay = async (at: number): Promise<string> => {
    const { authorizationId } = payments[at]!;
    const { status, data, problem } = await execute(scene, { authorizationId, paymentCredential: credentials[at]! });
    return status === 200 ? data.settlementStatus : problem.code;
  };
  const paying = Array.from({ length: PAYMENTS }, async (_, at) => {
    await moment();
    return pay(at);
  });
  await moment(most);
  expect((await take(scene)).status).toBe(200);
  const after = await pay(PAYMENTS);
  const during = await Promise.all(paying);
  const entity = { "serviceAccount.revoked": scene.agent.serviceAccountId, "resource.archived": scene.seller.resourceId }[event];
  const late = await database().execute(sql`
    SELECT FROM commits a WHERE a.type = 'payment.submitted' AND a.mandate_id = ${scene.mandateId} AND a.number > (
      SELECT max(r.number) FROM commits r WHERE r.type = ${event} AND r.entity_id = ${entity ?? scene.mandateId})`);
  return { during, after, late: late.length };
}

describe("nothing is submitted after the reply which says that", () => {
  test.each(Object.entries(rights))("%s, in any order of commits", async (_name, right) => {
    const runs: Run[] = [];
    // Adjusts the delay to the speed of the machine: the revocation comes later if most payments were refused, and earlier if
    // most were submitted.
    let most = 40;
    // Only one race at a time: all use the same resource id, so the query for `late` could take the revocation of another race.
    while (runs.length < RACES) {
      const one = await run(right, most);
      runs.push(one);
      const tooLate = one.during.filter((told) => told === "pending").length < PAYMENTS / 2;
      most = Math.min(1_000, tooLate ? most * 1.5 : most / 1.5);
    }
    expect(runs.filter(({ late }) => late > 0)).toEqual([]);
    expect([...new Set(runs.map(({ after }) => after))]).toEqual([right.refusals[0]]);
    const during = runs.flatMap((one) => one.during);
    expect(during.filter((told) => told !== "pending" && !right.refusals.includes(told))).toEqual([]);
    // Some payments must have been submitted and some refused; otherwise they did not race.
    expect(new Set(during).size).toBeGreaterThan(1);
    await sweepHolds();
    expect(await brokenInvariants()).toEqual([]);
  });
});
