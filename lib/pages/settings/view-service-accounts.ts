import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { compileAccess } from "#lib/http/access.ts";
import type { MemberCaller } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";
import { keyCapabilitiesOf } from "#lib/identity/capabilities.ts";
import { listServiceAccounts } from "#lib/identity/keys/contract.ts";
import { subjectNames } from "#lib/identity/subject-name-store.ts";
import {
  countAccounts,
  findAccount,
  selectAccounts,
  selectKeys,
  type AccountLine,
  type KeyLine,
} from "#lib/pages/settings/service-account-store.ts";
import type { AccountDetail, AccountsView, AccountView, KeyView, LastUse } from "#lib/identity/keys/service-account-view.ts";
import { countOpenMandates, mandatesNaming } from "#lib/mandates/agent-store.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import { presentMandate } from "#lib/mandates/present-mandate.ts";
import { notFound } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";

const ROWS = 20;
/** Each rotation adds a key, so a service account may have many; the page shows the newest 50. */
const KEYS = 50;
const MANDATES = 50;

const requireAccess = compileAccess(listServiceAccounts.access);

function lastUseOf({ lastUsedAt, address, userAgent }: AccountLine | KeyLine): { lastUse?: LastUse } {
  if (lastUsedAt === null || address === null) return {};
  return { lastUse: { at: toWire(lastUsedAt), address, ...(userAgent !== null && { userAgent }) } };
}

const accountOf = (line: AccountLine): AccountView => ({
  serviceAccountId: line.serviceAccountId,
  name: line.name,
  capabilities: [...keyCapabilitiesOf(line.capabilities)],
  createdAt: toWire(line.createdAt),
  ...(line.revokedAt !== null && { revokedAt: toWire(line.revokedAt) }),
  ...(line.pausedAt !== null && { pausedAt: toWire(line.pausedAt) }),
  ...(line.mandateIds !== null && { mandateIds: line.mandateIds }),
  keyPreview: line.preview,
  keyCreatedAt: toWire(line.keyCreatedAt),
  keyAgeDays: line.ageDays,
  liveKeys: line.liveKeys,
  ...lastUseOf(line),
});

function keyOf(line: KeyLine): KeyView {
  const endsAt = line.revokedAt ?? line.expiresAt;
  return {
    keyId: line.keyId,
    preview: line.preview,
    status: line.revokedAt === null ? (line.expired ? "expired" : "active") : "revoked",
    createdAt: toWire(line.createdAt),
    ...(endsAt !== null && { endsAt: toWire(endsAt) }),
    ...lastUseOf(line),
  };
}

type PageRequest = { readonly revoked: boolean; readonly cursor: string | undefined };

/** @throws Problem capability_required, invalid_request for an invalid cursor */
export async function viewServiceAccounts(caller: MemberCaller, { revoked, cursor }: PageRequest): Promise<AccountsView> {
  requireAccess(caller);
  const place = decodeCursor(cursor);
  const [rows, counts] = await Promise.all([
    selectAccounts({ ...caller, revoked, place, rows: ROWS + 1 }),
    countAccounts(caller),
  ]);
  const { items, nextCursor } = page(rows, ROWS, (row) => row.serviceAccountId);
  return { items: items.map(accountOf), ...(nextCursor !== undefined && { nextCursor }), ...counts };
}

/** @throws Problem capability_required, not_found */
export async function viewServiceAccount(caller: MemberCaller, serviceAccountId: string): Promise<AccountDetail> {
  requireAccess(caller);
  const line = await findAccount(caller, serviceAccountId);
  if (!line) throw notFound("service account");
  const [keys, naming, openMandates, names, now] = await Promise.all([
    selectKeys(serviceAccountId, KEYS),
    mandatesNaming(caller, serviceAccountId, MANDATES),
    countOpenMandates(caller),
    subjectNames(database(), caller.organizationId, [line.createdBy]),
    clock(database()),
  ]);
  return {
    account: accountOf(line),
    createdBy: names.get(line.createdBy) ?? line.createdBy,
    keys: keys.map(keyOf),
    mandates: naming.map((row) => {
      const { mandateId, name, status } = presentMandate(row, [], decimalsOf(row), now);
      return { mandateId, name, status };
    }),
    openMandates,
  };
}
