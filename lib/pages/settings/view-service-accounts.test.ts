import { expect, test } from "vitest";
import { env } from "#lib/env.ts";
import { authenticate } from "#lib/identity/sessions/authenticate.ts";
import * as contract from "#lib/identity/keys/contract.ts";
import { flushKeyUses } from "#lib/identity/keys/key-uses.ts";
import { revokeServiceAccount } from "#lib/identity/keys/revoke-service-account.ts";
import { rotateServiceAccountKey } from "#lib/identity/keys/rotate-service-account-key.ts";
import { viewServiceAccount, viewServiceAccounts } from "#lib/pages/settings/view-service-accounts.ts";
import { callerOf } from "#test/caller.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newMember, newOrganization } from "#test/identity.ts";
import { activeMandate } from "#test/mandates.ts";
import { asking, authorize, decide, registerClient } from "#test/oauth.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const live = { revoked: false, cursor: undefined };

test("accounts newest first, page by page, with the newest key, its age and its last use", async () => {
  const owner = await newOrganization();
  const made = [];
  for (let at = 0; at < 22; at += 1) made.unshift(await newKey(owner));
  await authenticate(new Request(env().BASE_URL, { headers: { ...made[0]!.credential, "user-agent": "agent/2.1" } }));
  await flushKeyUses();
  const caller = await callerOf(owner.credential);
  const first = await viewServiceAccounts(caller, live);
  const second = await viewServiceAccounts(caller, { revoked: false, cursor: first.nextCursor });
  const ids = [...first.items, ...second.items].map(({ serviceAccountId }) => serviceAccountId);
  expect(ids).toEqual(made.map(({ serviceAccountId }) => serviceAccountId));
  expect(first).toMatchObject({ live: 22, revoked: 0 });
  expect(second.nextCursor).toBeUndefined();
  expect(first.items[0]).toMatchObject({
    keyPreview: expect.stringMatching(/^csk_sandbox_/),
    keyAgeDays: 0,
    liveKeys: 1,
    lastUse: { userAgent: "agent/2.1" },
  });
  expect(first.items[1]?.lastUse).toBeUndefined();
});

test("an account with a key and a connected program shows the key, and counts one key", async () => {
  const owner = await newOrganization();
  const { serviceAccountId } = await newKey(owner);
  const asked = await authorize(asking(await registerClient(owner.credential)).query);
  const { status } = await decide(owner.credential, asked.search.slice(1), { serviceAccountId });
  expect(status).toBe(201);
  const { items } = await viewServiceAccounts(await callerOf(owner.credential), live);
  expect(items[0]).toMatchObject({ keyPreview: expect.stringMatching(/^csk_sandbox_/), liveKeys: 1 });
});

test("an account shows its keys, also one that is replaced but still accepted, and the mandates that name it", async () => {
  const owner = await newOrganization();
  const agent = await newKey(owner);
  const id = agent.serviceAccountId;
  const as = owner.credential;
  const named = await activeMandate(as, { name: "Lab", agents: [id] });
  await activeMandate(as, { name: "For all" });
  await send(contract.rotateServiceAccountKey, rotateServiceAccountKey, { id, as, body: { gracePeriodSeconds: 3600 } });
  const caller = await callerOf(owner.credential);
  const { account, keys, mandates, openMandates, createdBy } = await viewServiceAccount(caller, id);
  expect(account.liveKeys).toBe(2);
  expect(keys.map(({ status, endsAt }) => [status, endsAt !== undefined])).toEqual([
    ["active", false],
    ["active", true],
  ]);
  expect(mandates).toEqual([{ mandateId: named, name: "Lab", status: "active" }]);
  expect([openMandates, createdBy]).toEqual([1, "Ada"]);
  await send(contract.revokeServiceAccount, revokeServiceAccount, { id, as });
  const revoked = await viewServiceAccounts(caller, { revoked: true, cursor: undefined });
  expect(revoked.items.map(({ serviceAccountId }) => serviceAccountId)).toEqual([id]);
  expect((await viewServiceAccount(caller, id)).keys.map(({ status }) => status)).toEqual(["revoked", "revoked"]);
});

test("404 for an account of another organization, 403 without serviceAccounts:read", async () => {
  const [owner, other] = [await newOrganization(), await newOrganization()];
  const { serviceAccountId } = await newKey(other);
  await expect(viewServiceAccount(await callerOf(owner.credential), serviceAccountId)).rejects.toMatchObject({
    code: "not_found",
  });
  expect((await viewServiceAccounts(await callerOf(owner.credential), live)).items).toEqual([]);
  const approver = await callerOf((await newMember(owner, "approver")).credential);
  await expect(viewServiceAccounts(approver, live)).rejects.toMatchObject({ code: "capability_required" });
});
