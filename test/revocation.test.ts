import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import * as identity from "#lib/identity/keys/contract.ts";
import { revokeServiceAccount } from "#lib/identity/keys/revoke-service-account.ts";
import { rotateServiceAccountKey } from "#lib/identity/keys/rotate-service-account-key.ts";
import * as mandatesContract from "#lib/mandates/contract.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { archiveResource } from "#lib/sellers/resources/archive-resource.ts";
import * as sellers from "#lib/sellers/contract.ts";
import { ask, newIntent, type AuthorizeReply } from "#test/asking.ts";
import { noteCommits } from "#test/commits.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, assets, createBuyer, type Buyer } from "#test/mandates.ts";
import { brokenInvariants } from "#test/proof.ts";
import { random } from "#test/random.ts";
import { newSeller } from "#test/sellers.ts";
import { startServer, type RunningServer } from "#test/server.ts";
import { createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

const RACES = 44;
const AT_ONCE = 4;
const policy = { assets, limits: { perPayment: "1", total: "1000" } };

let server: RunningServer;
let seller: Credential;
beforeAll(async () => {
  seller = (await createPerson(await createOrganization("Shop"))).credential;
  await noteCommits();
  server = await startServer();
});
afterAll(() => server.stop());

type Race = { readonly buyer: Buyer; readonly mandateId: string };
type Right = {
  readonly event: string;
  readonly take: (race: Race) => Promise<{ status: number }>;
  readonly entity: (race: Race) => string;
  /** The reply to the agent after the revocation. */
  readonly refusal: string;
};

const own = ({ buyer }: Race) => ({ as: buyer.person.credential });

const rights: Readonly<Record<string, Right>> = {
  "a mandate is revoked": {
    event: "mandate.revoked",
    take: (race) => send(mandatesContract.revokeMandate, revokeMandate, { ...own(race), id: race.mandateId }),
    entity: ({ mandateId }) => mandateId,
    refusal: "mandate_revoked",
  },
  "a mandate is suspended": {
    event: "mandate.suspended",
    take: (race) => send(mandatesContract.suspendMandate, suspendMandate, { ...own(race), id: race.mandateId }),
    entity: ({ mandateId }) => mandateId,
    refusal: "mandate_suspended",
  },
  "a service account is revoked": {
    event: "serviceAccount.revoked",
    take: (race) =>
      send(identity.revokeServiceAccount, revokeServiceAccount, { ...own(race), id: race.buyer.agent.serviceAccountId }),
    entity: ({ buyer }) => buyer.agent.serviceAccountId,
    refusal: "api_key_invalid",
  },
  "a key is rotated without grace": {
    event: "serviceAccount.rotated",
    take: (race) =>
      send(identity.rotateServiceAccountKey, rotateServiceAccountKey, {
        ...own(race),
        id: race.buyer.agent.serviceAccountId,
        body: { gracePeriodSeconds: 0 },
      }),
    entity: ({ buyer }) => buyer.agent.serviceAccountId,
    refusal: "api_key_invalid",
  },
  "a resource is archived": {
    event: "resource.archived",
    take: ({ buyer: { resource } }) =>
      send(sellers.archiveResource, archiveResource, {
        as: seller,
        id: resource.resourceId,
        body: { sellerId: resource.sellerId },
      }),
    entity: ({ buyer }) => buyer.resource.resourceId,
    refusal: "resource_not_allowed",
  },
};

let count = 0;

async function newRace(): Promise<Race> {
  const buyer = await createBuyer();
  const resourceId = `report-${++count}`;
  const { sellerId, domain, payTo } = await newSeller(seller, { price: "0.5", resourceId });
  const paying: Buyer = { ...buyer, resource: { ...buyer.resource, sellerId, resourceId, domain, payTo } };
  return { buyer: paying, mandateId: await activeMandate(buyer.person.credential, { policy }) };
}

const told = ({ status, data, problem }: Pick<AuthorizeReply, "status" | "data" | "problem">): string =>
  status === 200 ? (data.policyDecision.denialCode ?? data.policyDecision.outcome) : problem.code;

/**
 * Authorizes a payment in this process, or else in the process of `server`. Returns the denial code, the outcome or the problem
 * code.
 */
async function authorize({ buyer, mandateId }: Race, here: boolean): Promise<string> {
  if (here) return told(await ask(buyer, mandateId));
  const response = await fetch(`${server.url}/api/v1/payments/authorize`, {
    method: "POST",
    headers: { "content-type": "application/json", ...buyer.agent.credential },
    body: JSON.stringify({ mandateId, intent: newIntent(buyer) }),
  });
  const json = (await response.json()) as AuthorizeReply["data"] & AuthorizeReply["problem"];
  return told({ status: response.status, data: json, problem: json });
}

const next = random(20_261_121);
const moment = (most: number) => new Promise((resolve) => setTimeout(resolve, next() * most));

type Run = { readonly during: readonly string[]; readonly after: readonly string[]; readonly late: number };

async function run({ event, take, entity }: Right): Promise<Run> {
  const race = await newRace();
  const asked = Array.from({ length: 8 }, async (_, at) => {
    await moment(12);
    return authorize(race, at % 2 === 0);
  });
  await moment(12);
  expect((await take(race)).status).toBe(200);
  const after = await Promise.all([authorize(race, true), authorize(race, false)]);
  const during = await Promise.all(asked);
  const rows = await database().execute(sql`
    SELECT FROM commits r JOIN commits a ON a.number > r.number AND a.type = 'payment.authorized'
      JOIN authorizations p ON p.authorization_id = a.entity_id AND p.mandate_id = ${race.mandateId}
    WHERE r.type = ${event} AND r.entity_id = ${entity(race)}`);
  return { during, after, late: rows.length };
}

describe("nothing is authorized after the reply which says that", () => {
  test.each(Object.entries(rights))("%s, in any order of commits", async (_name, right) => {
    const runs: Run[] = [];
    while (runs.length < RACES) runs.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => run(right)))));
    expect(runs.filter(({ late }) => late > 0)).toEqual([]);
    expect(new Set(runs.flatMap(({ after }) => after))).toEqual(new Set([right.refusal]));
    // Some requests must have been allowed and some refused; otherwise they did not race.
    expect(new Set(runs.flatMap(({ during }) => during))).toEqual(new Set(["allow", right.refusal]));
    expect(await brokenInvariants()).toEqual([]);
  });
});
