import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { watchPages } from "#lib/health/lifecycle.ts";
import type { Operation } from "#lib/http/operation.ts";
import { newApiKey } from "#lib/identity/keys/api-key.ts";
import { user } from "#lib/identity/tables.ts";
import { operations } from "#lib/operations/operations.ts";
import { dispatch } from "#lib/server/entry.ts";
import { Capability, MembershipRole, PlatformRole } from "#lib/vocabulary.ts";
import { useDatabase } from "#test/database.ts";
import { newPerson } from "#test/identity.ts";
import { createAgent, createOrganization, createPerson, type Credential } from "#test/tenant.ts";

/*
 * The permissions of every operation, written down independently of the code that checks them. Callers are every role, every
 * platform role except `user`, a person without an organization, and API keys: with the needed capability, with every other
 * capability, and with none. Callers without credentials, and with a key of the other environment, are tested too.
 */

useDatabase();

const platformRoles = PlatformRole.options.filter((role) => role !== "user").map((role) => `platform ${role}` as const);
const people = [...MembershipRole.options, "person without organization", ...platformRoles] as const;
type Who = (typeof people)[number];

const everybody: readonly Who[] = people;
const admins: readonly Who[] = ["owner", "admin"];
const builders: readonly Who[] = [...admins, "developer"];
const readers: readonly Who[] = [...builders, "viewer"];
const approvers: readonly Who[] = [...admins, "approver"];
const platform = (...roles: readonly ("support" | "auditor" | "operator")[]): readonly Who[] => [
  "platform admin",
  ...roles.map((role) => `platform ${role}` as const),
];

/** Which API keys an operation accepts: those with this capability, or one of two, `any`, or `none`. For `anyone`, no credentials are needed. */
type Key = Capability | `${Capability} or ${Capability}` | "anyone" | "any" | "none";

const table: readonly (readonly [who: readonly Who[], key: Key, ids: string])[] = [
  [everybody, "anyone", "receiveCardEvent checkLiveness checkReadinessOfService checkReadinessOfPages registerMandate"],
  [everybody, "any", "getSeller listDeployments"],
  [everybody, "none", "getSession completeOnboarding activateOrganization searchOrganization claimPlatform"],
  [everybody, "none", "stepUp challengePasskey confirmIdentity registerPasskey addPasskey renamePasskey removePasskey"],
  [everybody, "none", "endSession endOtherSessions changePassword getNotices setNotices addDevice removeDevice"],
  [admins, "payments:authorize", "authorizePayment authorizePayments"],
  [admins, "payments:execute", "executePayment signSamplePayment"],
  [admins, "payments:execute or payments:record", "recordPayment"],
  [
    [...readers, "approver", "finance"],
    "payments:read",
    "getApprovalReceipt getExecution getExecutionReceipt getPayment getPaymentReceipt listPayments",
  ],
  [admins, "checkouts:preview", "previewCheckout cancelCheckout"],
  [admins, "payments:settle", "listSettlements"],
  [readers, "checkouts:read", "getCheckout"],
  [approvers, "none", "approveCheckout extendCheckout pauseServiceAccount rejectCheckout resumeServiceAccount takeBackApproval"],
  [admins, "orders:place", "placeOrder continueCheckout"],
  [readers, "readiness:read", "checkReadiness"],
  [admins, "mandates:create", "createMandate"],
  [
    [...readers, "approver"],
    "mandates:read",
    "listMandates getMandate getRemaining simulateMandate listMandateLedger prepareRegistration",
  ],
  [admins, "none", "closeCardPayment connectCards updateCardConnection setCard"],
  [[...readers, "approver"], "none", "listCardConnections"],
  [admins, "none", "allowPaymentOnce updateMandate activateMandate resumeMandate setMandateAlerts"],
  [admins, "mandates:revoke", "suspendMandate revokeMandate"],
  [builders, "sellers:manage", "registerSeller verifySellerDomain"],
  [readers, "sellers:read", "listSellers listResources getResource"],
  [builders, "resources:manage", "upsertPaidResource archiveResource probeResource challengePayTo provePayTo"],
  [admins, "billing:quote", "quoteFee"],
  [[...readers, "finance"], "billing:read", "listFeeSchedules listFees"],
  [builders, "none", "createServiceAccount rotateServiceAccountKey revokeServiceAccount"],
  [readers, "none", "listServiceAccounts listAgentClients listConnections"],
  [builders, "none", "createAgentClient removeAgentClient connectAgent endConnection"],
  [admins, "none", "inviteMember cancelInvitation updateMember removeMember setStepUpThreshold updateOrganization"],
  [[...readers, "finance"], "audit:read", "listAuditEvents listEvents verifyAudit"],
  [admins, "none", "createWebhookEndpoint deleteWebhookEndpoint listWebhookDeliveries listWebhookEndpoints"],
  [admins, "none", "resendWebhookDeliveries rotateWebhookSecret testWebhookEndpoint updateWebhookEndpoint"],
  [platform(), "none", "saveFeeSchedule assignSubscription updateUserRoles"],
  [platform("support", "auditor", "operator"), "none", "listUsers"],
  [platform("support", "operator"), "none", "revokeUserSessions"],
  [platform("operator"), "none", "banUser unbanUser emergencyRevoke recheckExecution verifySeller"],
  [platform("auditor"), "none", "listPlatformAuditEvents verifyPlatformAudit"],
];
const rows = new Map(table.flatMap(([who, key, ids]) => ids.split(" ").map((id) => [id, { who, key }] as const)));

/**
 * Calls an operation. Returns the problem code if the permission is refused, or "allowed" for any other answer below 500.
 * Nothing changes: no operation accepts this body, and those without a body get an id that does not exist.
 */
async function ask({ method, path, body }: Operation, as: Credential): Promise<string> {
  const writes = method !== "GET";
  const headers = { ...as, ...(writes && { "content-type": "application/json" }) };
  const url = env().BASE_URL + path.replace(/\{\w+\}/g, "nobody_has_this");
  const sent = writes ? { body: JSON.stringify(body ? { nothing: true } : {}) } : {};
  const response = await dispatch(new Request(url, { method, headers, ...sent }));
  const { code = "" } = (await response.json()) as { code?: string };
  if (response.status === 401 || (response.status === 403 && /^(?:forbidden|capability_required)$/.test(code))) return code;
  return response.status < 500 ? "allowed" : `${response.status} ${code}`;
}

const asks = async (operation: Operation, callers: Readonly<Record<string, Credential>>) =>
  Object.fromEntries(
    await Promise.all(Object.entries(callers).map(async ([name, as]) => [name, await ask(operation, as)] as const)),
  );

const byId = (list: readonly Operation[]) => list.map((one) => [one.id, one] as const);

describe("who may call what", () => {
  const persons: Record<string, Credential> = {};
  const only: Record<string, Credential> = {};
  let keyOf: (capabilities: readonly Capability[]) => Promise<Credential>;
  let everything: Credential;
  let nothing: Credential;
  beforeAll(async () => {
    watchPages(() => true);
    const organizationId = await createOrganization("Members");
    keyOf = async (capabilities) => (await createAgent(organizationId, capabilities)).credential;
    for (const role of MembershipRole.options) persons[role] = (await createPerson(organizationId, role)).credential;
    persons["person without organization"] = (await newPerson()).credential;
    for (const role of platformRoles) {
      const { userId, credential } = await newPerson();
      const roles = ["user", role.slice("platform ".length)];
      await database().update(user).set({ platformRoles: roles }).where(eq(user.id, userId));
      persons[role] = credential;
    }
    for (const one of Capability.options) only[one] = await keyOf([one]);
    [everything, nothing] = [await keyOf(Capability.options), await keyOf([])];
  });

  test("the table names exactly the operations", () => {
    expect([...rows.keys()].toSorted()).toEqual(operations.map(({ id }) => id).toSorted());
  });

  test.each(byId(operations))("%s, by every role", async (id, operation) => {
    const { who = [], key } = rows.get(id) ?? {};
    const refusal = { none: "capability_required", anyone: "", any: "" }[key as string] ?? "capability_required";
    const expected = Object.fromEntries(people.map((one) => [one, who.includes(one) ? "allowed" : refusal]));
    expect(await asks(operation, persons)).toEqual(expected);
  });

  test.each(byId(operations))("%s, by keys and without credentials", async (id, operation) => {
    const { key } = rows.get(id) ?? {};
    const foreign = { authorization: `Bearer ${newApiKey("production").apiKey}` };
    const outside = await asks(operation, { nobody: {}, foreign });
    const open = key === "anyone";
    expect(outside).toEqual(
      open ? { nobody: "allowed", foreign: "allowed" } : { nobody: "unauthenticated", foreign: "api_key_invalid" },
    );
    if (key === "none") {
      expect(await asks(operation, { everything, nothing })).toEqual({ everything: "forbidden", nothing: "forbidden" });
    } else if (key === "any" || key === "anyone") {
      expect(await asks(operation, { everything, nothing })).toEqual({ everything: "allowed", nothing: "allowed" });
    } else {
      const accepted = (key ?? "").split(" or ") as Capability[];
      const allBut = await keyOf(Capability.options.filter((one) => !accepted.includes(one)));
      const keys = Object.fromEntries(accepted.map((one) => [one, only[one]!]));
      const allowed = Object.fromEntries(accepted.map((one) => [one, "allowed"]));
      const refused = "capability_required";
      expect(await asks(operation, { ...keys, allBut, nothing })).toEqual({ ...allowed, allBut: refused, nothing: refused });
    }
  });
});
