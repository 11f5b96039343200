import { eq } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditEvents } from "#lib/audit/tables.ts";
import { database } from "#lib/db/client.ts";
import { completeOnboarding } from "#lib/identity/sessions/complete-onboarding.ts";
import * as identity from "#lib/identity/sessions/contract.ts";
import { claimPlatform as handler } from "#lib/platform/claim-platform.ts";
import * as contract from "#lib/platform/contract.ts";
import { issueSetupCode } from "#lib/installation/setup-code.ts";
import { installation } from "#lib/installation/tables.ts";
import { forget } from "#lib/process.ts";
import { PlatformCapability } from "#lib/vocabulary.ts";
import { useDatabase } from "#test/database.ts";
import { newPerson, type Person } from "#test/identity.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const chains = [
  {
    chain: "eip155:8453",
    rpcUrl: "https://rpc.example",
    confirmations: 2,
    assets: [{ asset: "USDC", tokenAddress: `0x${"11".repeat(20)}`, tokenName: "USD Coin", tokenVersion: "2", tokenDecimals: 6 }],
  },
];
const production = {
  ENVIRONMENT: "production",
  BASE_URL: "https://pay.example.com",
  BETTER_AUTH_SECRET: "kJ8x2Lq9Zr4Tn7Wv1Yb6Hc3Mf5Pd0Gs8",
  API_KEY_SECRET: "aQ7w3Er9Ty2Ui6Op4As8Df1Gh5Jk0Lz3",
  AUDIT_SIGNING_KEY: "c2lnbnMgdGhlIGNoZWNrcG9pbnRzIG9mIHRlc3RzISE",
  SETTLEMENT_PRIVATE_KEY: `0x${"a1".repeat(32)}`,
  CHAINS: JSON.stringify(chains),
};
const before = { ...process.env };
const forgetSecrets = () => forget("env", "identity/sessions/auth", "identity/keys/api-key", "identity/sessions/session-cookie");

const claim = (person: Person, setupCode: string) =>
  send(contract.claimPlatform, handler, { body: { setupCode }, as: person.credential });

describe("claimPlatform", () => {
  beforeAll(async () => {
    Object.assign(process.env, production);
    forgetSecrets();
    await database().update(installation).set({ environment: "production" });
  });
  afterAll(() => {
    for (const name of Object.keys(production)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
    forgetSecrets();
  });

  test("in production the first person does not become admin", async () => {
    const person = await newPerson();
    const body = { organizationName: "First", productRoles: ["buyer"] };
    const { data } = await send(identity.completeOnboarding, completeOnboarding, { body, as: person.credential });
    expect(data.session.platformRoles).toEqual(["user"]);
  });

  test("the code that is printed at the first start makes one admin, once, and only its hash is stored", async () => {
    const person = await newPerson();
    expect((await claim(person, "AAAA-AAAA-AAAA-AAAA-AAAA-AAAA")).problem.code).toBe("setup_code_invalid");
    const codes = await Promise.all([issueSetupCode(), issueSetupCode(), issueSetupCode()]);
    const lost = codes.find((one) => one !== null);
    expect(codes.filter((one) => one !== null)).toHaveLength(1);
    expect(lost).toMatch(/^([0-9A-Z]{4}-){5}[0-9A-Z]{4}$/);
    expect(await issueSetupCode()).toBeNull();
    const code = await issueSetupCode({ replaces: true });
    expect(code).toMatch(/^([0-9A-Z]{4}-){5}[0-9A-Z]{4}$/);
    expect((await claim(person, lost!)).problem.code).toBe("setup_code_invalid");
    expect(JSON.stringify(await database().select().from(installation))).not.toContain(code!.slice(0, 9));
    expect((await claim(person, `${code!.slice(0, -1)}?`)).status).toBe(403);
    const people = [person, await newPerson(), await newPerson()];
    const replies = await Promise.all(people.map((one) => claim(one, ` ${code!.toLowerCase()} `)));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    const winner = replies.find(({ status }) => status === 200)!;
    expect(winner.data.session.platformCapabilities).toEqual(PlatformCapability.options);
    expect(replies.find(({ status }) => status === 409)!.problem.code).toBe("already_claimed");
    const { userId } = winner.data.session.user;
    const events = await database().select().from(auditEvents).where(eq(auditEvents.entityId, userId));
    expect(events.map(({ type, chain }) => `${chain} ${type}`)).toContain("platform platformUser.rolesUpdated");
    expect(JSON.stringify(events)).not.toContain(code!.slice(0, 9));
    expect((await database().select().from(installation))[0]).toMatchObject({ setupCodeHash: null });
    expect(await issueSetupCode()).toBeNull();
    expect(await issueSetupCode({ replaces: true })).toBeNull();
  });

  test("429 after several wrong codes", async () => {
    const person = await newPerson();
    const statuses = [];
    for (let at = 0; at < 7; at += 1) statuses.push((await claim(person, `AAAA-${at}`)).status);
    expect(statuses).toEqual([409, 409, 409, 409, 409, 429, 429]);
  });
});
