import { eq } from "drizzle-orm";
import { getAddress } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { database, pool } from "#lib/db/client.ts";
import * as contract from "#lib/sellers/contract.ts";
import { verifySeller } from "#lib/sellers/verify-seller.ts";
import { registerSeller } from "#lib/sellers/register-seller.ts";
import { payToProofs, sellers } from "#lib/sellers/tables.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, assets, CHAIN } from "#test/mandates.ts";
import { authorized } from "#test/payments.ts";
import { createOfficial, REASON, stopNow, type Official } from "#test/platform.ts";
import { newSeller, randomAddress } from "#test/sellers.ts";
import { createAgent, createOrganization, createPerson, send } from "#test/tenant.ts";

useDatabase();

const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";

type Shop = Awaited<ReturnType<typeof newSeller>>;
type Person = Awaited<ReturnType<typeof createPerson>> & { readonly organizationId: string };

let operator: Official;
let buyer: { readonly agent: Awaited<ReturnType<typeof createAgent>>; readonly mandateId: string };

beforeAll(async () => {
  operator = await createOfficial("admin");
  const organizationId = await createOrganization("Buyer");
  const person = await createPerson(organizationId);
  const agent = await createAgent(organizationId, ["payments:authorize", "mandates:read"]);
  const open = { assets, limits: { perPayment: "1", total: "1000" }, sellers: { unregistered: "allow" } };
  buyer = { agent, mandateId: await activeMandate(person.credential, { policy: open }) };
});

let count = 0;
const newDomain = (): string => `evil-${++count}-${Date.now()}.example.com`;

async function newOwner(): Promise<Person> {
  const organizationId = await createOrganization("Shop");
  return { ...(await createPerson(organizationId)), organizationId };
}

const verify = async ({ sellerId }: Pick<Shop, "sellerId">): Promise<void> => {
  await database().update(sellers).set({ verified: true }).where(eq(sellers.sellerId, sellerId));
};

/** Stores that the organization has proved the address of the shop. */
const prove = async ({ organizationId, userId }: Person, { sellerId, payTo }: Shop): Promise<void> => {
  const proof = {
    organizationId,
    address: payTo.toLowerCase(),
    chain: "",
    method: "signature" as const,
    sellerId,
    provenBy: userId,
  };
  await database().insert(payToProofs).values(proof);
};

type Registered = { readonly shop: Shop; readonly owner: Person };

async function newShop(registered: Parameters<typeof newSeller>[1] = {}, is: { verified?: true; proven?: true } = {}) {
  const owner = await newOwner();
  const shop = await newSeller(owner.credential, registered);
  if (is.verified) await verify(shop);
  if (is.proven) await prove(owner, shop);
  return { shop, owner } satisfies Registered;
}

const decisionOn = async ({ shop }: Registered) =>
  (await authorized({ ...buyer, seller: shop } as unknown as Parameters<typeof authorized>[0])).policyDecision;

/** Tries to pay a registered seller. Returns the denial code, or the outcome if the payment is not denied. */
async function payingTo(registered: Registered): Promise<string> {
  const { outcome, denialCode } = await decisionOn(registered);
  return denialCode ?? outcome;
}

/** Asks for a payment of 0.25 USDC to a seller that is not registered. */
function askForStranger(domain: string, payTo: string) {
  const extra = { name: "USDC", version: "2" };
  const offer = { scheme: "exact", network: CHAIN, amount: "250000", asset: USDC, payTo, maxTimeoutSeconds: 60, extra };
  const challenge = { x402Version: 2, resource: { url: `https://${domain}/report` }, accepts: [offer] };
  const scene = { ...buyer, seller: {} } as unknown as Parameters<typeof authorized>[0];
  return authorized(scene, { seller: {}, resource: undefined, amount: "0.25", chain: CHAIN, payTo, challenge });
}

/** Returns the denial code, or the outcome if the payment is not denied. */
async function payingStranger(domain: string, payTo: string): Promise<string> {
  const { denialCode, outcome } = (await askForStranger(domain, payTo)).policyDecision;
  return denialCode ?? outcome;
}

/** Stores an execution without an outcome for each authorization. Returns the execution ids, newest first. */
async function submit(...authorizationIds: readonly string[]): Promise<string[]> {
  const rows = await pool()`
    INSERT INTO executions (execution_id, authorization_id, organization_id, environment, mandate_id, subject_id, settlement_mode, settlement_status, next_check_at)
    SELECT 'exe' || substr(authorization_id, 4), authorization_id, organization_id, environment, mandate_id, subject_id, settlement_mode, 'processing', now()
    FROM authorizations WHERE authorization_id = ANY(${authorizationIds}) RETURNING execution_id`;
  return rows
    .map((row) => String(row["execution_id"]))
    .sort()
    .reverse();
}

const stop = async ({ shop }: Registered) => {
  const { status, data } = await stopNow(operator, { sellerId: shop.sellerId });
  expect(status).toBe(200);
  return data.auditEvent.metadata as { hit: { seller: Record<string, unknown> }; submittedExecutions: string[] };
};

const register = (domain: string, { credential }: Person) =>
  send(contract.registerSeller, registerSeller, { as: credential, body: { name: "Again", domain } });

describe("a stop of a seller that has verified its domain", () => {
  test("applies to a second organization with the same domain, with www, with a subdomain, and with its address", async () => {
    const domain = newDomain();
    const evil = await newShop({ domain }, { verified: true });
    const others = [
      await newShop({ domain }),
      await newShop({ domain: `www.${domain}` }),
      await newShop({ domain: `pay.${domain}` }),
    ];
    const subdomain = await newShop({ domain: `shop.${domain}` }, { verified: true });
    const beside = await newShop({ domain: `not-${domain}` });
    for (const one of [...others, subdomain, beside]) expect(await payingTo(one)).toBe("allow");
    await stop(evil);
    for (const one of [evil, ...others, subdomain]) expect(await payingTo(one)).toBe("emergency_stop");
    expect(await payingTo(beside)).toBe("allow");
    for (const host of [domain, `www.${domain}`]) expect(await payingStranger(host, randomAddress())).toBe("emergency_stop");
    const again = await newOwner();
    for (const host of [domain, `www.${domain}`, `a.b.${domain}`])
      expect((await register(host, again)).problem.code).toBe("conflict");
  });

  test("of www applies to the domain itself, and not to other subdomains", async () => {
    const domain = newDomain();
    const evil = await newShop({ domain: `www.${domain}` }, { verified: true });
    const [bare, other] = [await newShop({ domain }), await newShop({ domain: `shop.${domain}` })];
    await stop(evil);
    expect([await payingTo(bare), await payingTo(other)]).toEqual(["emergency_stop", "allow"]);
  });

  test("lists open payments to unregistered sellers at the domain and its subdomains, and none at other domains", async () => {
    const domain = newDomain();
    const evil = await newShop({ domain }, { verified: true });
    const asked = [
      await askForStranger(`www.${domain}`, randomAddress()),
      await askForStranger(`pay.${domain}`, randomAddress()),
    ];
    const beside = await askForStranger(`not-${domain}`, randomAddress());
    const [named] = [await submit(...asked.map(({ authorizationId }) => authorizationId)), await submit(beside.authorizationId)];
    expect(named).toHaveLength(2);
    expect((await stop(evil)).submittedExecutions).toEqual(named);
  });

  test("prevents an earlier registration of the domain from being verified", async () => {
    const domain = newDomain();
    const [evil, second] = [await newShop({ domain }, { verified: true }), await newShop({ domain: `www.${domain}` })];
    await stop(evil);
    const { problem } = await send(contract.verifySeller, verifySeller, {
      as: operator.credential,
      id: second.shop.sellerId,
      body: { verified: true, reason: REASON },
    });
    expect(problem.code).toBe("conflict");
  });
});

describe("a stop of a seller that has proved its address", () => {
  test("applies to every organization that is paid at the address, verified or not, and to unregistered sellers", async () => {
    const payTo = randomAddress();
    const evil = await newShop({ payTo }, { proven: true });
    const [second, third] = [
      await newShop({ payTo }),
      await newShop({ payTo: getAddress(payTo) }, { verified: true, proven: true }),
    ];
    const beside = await newShop({});
    expect([await payingTo(second), await payingTo(third)]).toEqual(["allow", "allow"]);
    const { hit } = await stop(evil);
    expect(hit.seller["reach"]).toContainEqual({ kind: "address", value: payTo, proven: true, subdomains: false });
    expect([await payingTo(second), await payingTo(third)]).toEqual(["emergency_stop", "emergency_stop"]);
    expect(await payingStranger(newDomain(), payTo)).toBe("emergency_stop");
    expect(await payingTo(beside)).toBe("allow");
  });
});

describe("a stop of a seller that only claimed its domain and its address", () => {
  test("does not apply to the organization that verified the domain, so that stopping an impostor does not stop the real seller", async () => {
    const [domain, payTo] = [newDomain(), randomAddress()];
    const victim = await newShop({ domain, payTo }, { verified: true });
    const impostor = await newShop({ domain, payTo });
    await stop(impostor);
    expect([await payingTo(victim), await payingTo(impostor)]).toEqual(["allow", "emergency_stop"]);
  });

  test("does not apply to the organization that proved the address", async () => {
    const payTo = randomAddress();
    const victim = await newShop({ payTo }, { proven: true });
    await stop(await newShop({ payTo }));
    expect(await payingTo(victim)).toBe("allow");
  });

  test("applies to others until they prove the domain or the address", async () => {
    const [domain, payTo] = [newDomain(), randomAddress()];
    const evil = await newShop({ domain, payTo });
    const [sameDomain, sameAddress, subdomain] = [
      await newShop({ domain }),
      await newShop({ payTo }),
      await newShop({ domain: `www.${domain}` }),
    ];
    await stop(evil);
    for (const one of [sameDomain, sameAddress, subdomain]) {
      const { denialCode, reasons } = await decisionOn(one);
      expect(denialCode).toBe("emergency_stop");
      expect(reasons[0]?.message).toContain("verify its domain");
    }
    expect(await payingStranger(domain, randomAddress())).toBe("emergency_stop");
    expect(await payingStranger(newDomain(), payTo)).toBe("emergency_stop");
    await verify(sameDomain.shop);
    await prove(sameAddress.owner, sameAddress.shop);
    expect([await payingTo(sameDomain), await payingTo(sameAddress)]).toEqual(["allow", "allow"]);
    // The organization of a stopped seller cannot register the domain again. Another organization can, because it may own the
    // domain.
    expect((await register(domain, evil.owner)).problem.code).toBe("conflict");
    expect((await register(domain, await newOwner())).status).toBe(201);
  });
});
