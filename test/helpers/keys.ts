import * as audit from "#lib/audit/contract.ts";
import { listAuditEvents } from "#lib/audit/list-audit-events.ts";
import * as contract from "#lib/identity/keys/contract.ts";
import { revokeServiceAccount } from "#lib/identity/keys/revoke-service-account.ts";
import { rotateServiceAccountKey } from "#lib/identity/keys/rotate-service-account-key.ts";
import type { Owner } from "#test/identity.ts";
import { send } from "#test/tenant.ts";

export const rotate = (as: Owner, id: string, gracePeriodSeconds?: number, key?: string) =>
  send(contract.rotateServiceAccountKey, rotateServiceAccountKey, {
    id,
    body: gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds },
    as: as.credential,
    ...(key !== undefined && { key }),
  });

export const revoke = (as: Owner, id: string, body: Record<string, unknown> = {}, key?: string) =>
  send(contract.revokeServiceAccount, revokeServiceAccount, { id, body, as: as.credential, ...(key !== undefined && { key }) });

/** The status of a request with this key. The request needs audit:read. */
export const statusFor = async (apiKey: string): Promise<number> =>
  (await send(audit.listAuditEvents, listAuditEvents, { as: { authorization: `Bearer ${apiKey}` } })).status;
