import { eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { payToProofs, resources, sellers } from "#lib/sellers/tables.ts";
import { noteCommits } from "#test/commits.ts";
import { useDatabase } from "#test/database.ts";
import { useSettlement } from "#test/payments.ts";
import { ban, createOfficial, endSessionsOf, stopNow, type Official } from "#test/platform.ts";
import { brokenInvariants } from "#test/proof.ts";
import { newScene, newSeller, payerAddress, post, told, type Answer, type RaceScene } from "#test/race-scene.ts";
import { random } from "#test/random.ts";
import { startServer, type RunningServer } from "#test/server.ts";
import { createOrganization, createPerson } from "#test/tenant.ts";

/*
 * More than a thousand races between requests and revocations. Each request is sent to one of two processes while a right that
 * the request needs is being revoked. The database records the order of the commits.
 */

useDatabase();
const chain = useSettlement();

const SCENES = 24;
const AT_ONCE = 8;
/** The number of requests of one buyer that are sent during the revocation. */
const REQUESTS = 6;

let server: RunningServer;
let operators: readonly Official[];
beforeAll(async () => {
  await chain().mint(payerAddress, 1_000_000_000n);
  await noteCommits();
  // Several operators, because each may revoke only thirty times a minute.
  operators = await Promise.all(Array.from({ length: 8 }, () => createOfficial("operator")));
  server = await startServer();
});
afterAll(() => server.stop());

let turn = 0;
const operator = (): Official => operators[turn++ % operators.length]!;

type Right = {
  /** Which requests the revocation stops: all under the mandate, or only those of the person or of the agent. */
  readonly concerns: "everything" | "person" | "agent";
  readonly event: string;
  readonly take: (scene: RaceScene) => Promise<{ readonly status: number }>;
  readonly entity: (scene: RaceScene) => string;
  /** Whether a person may still approve the agent's requests afterwards. */
  readonly leavesApproval?: true;
};

const rights: Readonly<Record<string, Right>> = {
  "a session is revoked": {
    concerns: "person",
    event: "session.revoked",
    take: ({ person }) => endSessionsOf(operator(), person.userId),
    entity: ({ person }) => person.userId,
  },
  "a person is banned": {
    concerns: "person",
    event: "platformUser.banned",
    take: ({ person }) => ban(operator(), person.userId),
    entity: ({ person }) => person.userId,
  },
  "a member is removed": {
    concerns: "person",
    event: "member.removed",
    take: async ({ organizationId, person }) => {
      const { credential } = await createPerson(organizationId);
      return post(`/auth/organizations/${organizationId}/members/${person.userId}/remove`, {}, credential, null);
    },
    entity: ({ person }) => person.userId,
  },
  "a key is rotated without grace": {
    concerns: "agent",
    event: "serviceAccount.rotated",
    take: ({ agent, person }) =>
      post(`/auth/service-accounts/${agent.serviceAccountId}/rotate`, { gracePeriodSeconds: 0 }, person.credential, null),
    entity: ({ agent }) => agent.serviceAccountId,
    leavesApproval: true,
  },
  "a mandate is stopped in an emergency": {
    concerns: "everything",
    event: "mandate.revoked",
    take: ({ mandateId }) => stopNow(operator(), { mandateId }),
    entity: ({ mandateId }) => mandateId,
  },
  "an agent is stopped in an emergency": {
    concerns: "everything",
    event: "serviceAccount.revoked",
    take: ({ agent }) => stopNow(operator(), { agentId: agent.serviceAccountId }),
    entity: ({ agent }) => agent.serviceAccountId,
  },
  "a seller is stopped in an emergency": {
    concerns: "everything",
    event: "seller.suspended",
    take: ({ sellerId }) => stopNow(operator(), { sellerId }),
    entity: ({ sellerId }) => sellerId,
  },
  "another seller with the same verified domain is stopped in an emergency": {
    concerns: "everything",
    event: "seller.suspended",
    take: async ({ sellerId }) => stopNow(operator(), { sellerId: await twinOf(sellerId, "domain") }),
    entity: ({ sellerId }) => twins.get(sellerId) ?? "",
  },
  "another seller with the same proven address is stopped in an emergency": {
    concerns: "everything",
    event: "seller.suspended",
    take: async ({ sellerId }) => stopNow(operator(), { sellerId: await twinOf(sellerId, "address") }),
    entity: ({ sellerId }) => twins.get(sellerId) ?? "",
  },
};

const twins = new Map<string, string>();

/** Creates a seller of another organization that has proved the domain or address which this seller only claims. */
async function twinOf(sellerId: string, by: "domain" | "address"): Promise<string> {
  const [own] = await database().select().from(sellers).where(eq(sellers.sellerId, sellerId));
  const [sold] = await database().select().from(resources).where(eq(resources.sellerId, sellerId)).limit(1);
  const organizationId = await createOrganization("Twin");
  const twin = { sellerId: newId("seller"), organizationId };
  const domain = by === "domain" ? own!.domain : `twin-of-${own!.domain}`;
  await database()
    .insert(sellers)
    .values({ ...own!, ...twin, domain, verified: by === "domain" });
  await database()
    .insert(resources)
    .values({ ...sold!, ...twin });
  const proof = { organizationId, address: sold!.payTo!, chain: "", method: "signature" as const, sellerId: twin.sellerId };
  if (by === "address")
    await database()
      .insert(payToProofs)
      .values({ ...proof, provenBy: "usr_test" });
  twins.set(sellerId, twin.sellerId);
  return twin.sellerId;
}

const next = random(20_261_123);
const moment = (most: number) => new Promise((resolve) => setTimeout(resolve, next() * most));
const anywhere = (): string | null => (next() < 0.5 ? null : server.url);

const succeeded = (answer: Answer): boolean => answer.status === 200 && told(answer) !== "deny";

type Run = { readonly during: readonly Answer[]; readonly after: readonly Answer[]; readonly late: number };

/** The number of events of this buyer that were committed after the revocation and should have been prevented. */
async function countLate(scene: RaceScene, { concerns, event, entity }: Right): Promise<number> {
  const { organizationId, person, agent } = scene;
  const actor = { everything: null, person: person.userId, agent: agent.serviceAccountId }[concerns];
  const rows = await database().execute(sql`
    SELECT FROM commits a WHERE a.chain = ${organizationId} AND (${actor}::text IS NULL OR a.actor_id = ${actor})
      AND a.type IN ('payment.authorized', 'payment.approvalRequired', 'payment.submitted', 'checkout.approved')
      AND a.number > (SELECT min(r.number) FROM commits r WHERE r.type = ${event} AND r.entity_id = ${entity(scene)})`);
  return rows.length;
}

async function run(right: Right): Promise<Run> {
  const scene = await newScene(await newSeller(), right.concerns === "person" ? "person" : "agent");
  const requests = [
    ...Array.from({ length: REQUESTS - 2 }, (_, at) => () => scene.authorize(at % 2 === 0 ? null : server.url)),
    () => scene.execute(0, anywhere()),
    () => scene.approve(0, anywhere()),
  ];
  const racing = requests.map(async (request) => {
    await moment(20);
    return request();
  });
  await moment(20);
  expect((await right.take(scene)).status).toBe(200);
  const after = await Promise.all([
    scene.authorize(null),
    scene.authorize(server.url),
    scene.execute(1, anywhere()),
    ...(right.leavesApproval ? [] : [scene.approve(1, anywhere())]),
  ]);
  const during = await Promise.all(racing);
  return { during, after, late: await countLate(scene, right) };
}

describe("nothing is authorized, approved or submitted after the reply which says that", () => {
  test.each(Object.entries(rights))("%s, in any order of commits", async (_name, right) => {
    const runs: Run[] = [];
    while (runs.length < SCENES) runs.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => run(right)))));
    expect(runs.filter(({ late }) => late > 0)).toEqual([]);
    expect(runs.flatMap(({ after }) => after).filter(succeeded)).toEqual([]);
    // Some requests must have succeeded and some must have been refused; otherwise they did not race. A refused one must get a
    // proper refusal and no error; a slow machine may be overloaded.
    const during = runs.flatMap((one) => one.during);
    expect(new Set(during.map(succeeded)).size).toBe(2);
    expect(during.filter(({ status, body }) => status >= 500 && body["code"] !== "overloaded")).toEqual([]);
    expect(await brokenInvariants()).toEqual([]);
  });

  test("at least a thousand races ran", () => {
    expect(Object.keys(rights).length * SCENES * REQUESTS).toBeGreaterThanOrEqual(1_000);
  });
});
