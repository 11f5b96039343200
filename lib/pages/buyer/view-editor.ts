import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { findLiveServiceAccounts, listLiveServiceAccounts } from "#lib/identity/keys/service-account-store.ts";
import { timezoneOf } from "#lib/identity/members/organization-store.ts";
import { timeZones } from "#lib/pages/time-zones.ts";
import type { Environment } from "#lib/vocabulary.ts";

export type EditorChoices = {
  readonly agents: readonly { readonly id: string; readonly name: string }[];
  readonly coins: readonly { readonly asset: string; readonly chain: string; readonly decimals: number }[];
  readonly zones: readonly string[];
  /** If null, the form uses the time zone of the person. */
  readonly timezone: string | null;
};

/** The number of newest service accounts that the form offers. */
const AGENTS_MAX = 100;

type Scope = { readonly organizationId: string; readonly environment: Environment };

/** `named` has the ids that the mandate names: the form must offer all that are not revoked, or saving would remove them. */
export async function viewEditorChoices(
  { organizationId, environment }: Scope,
  named: readonly string[] = [],
): Promise<EditorChoices> {
  const scope = { organizationId, environment };
  const newest = await listLiveServiceAccounts({ ...scope, place: null, rows: AGENTS_MAX });
  const older = named.filter((id) => newest.every(({ serviceAccountId }) => serviceAccountId !== id));
  const accounts = [...newest, ...(older.length > 0 ? await findLiveServiceAccounts(scope, older) : [])];
  return {
    agents: accounts.map(({ serviceAccountId: id, name }) => ({ id, name })),
    coins: env().CHAINS.flatMap(({ chain, assets }) =>
      assets.map(({ asset, tokenDecimals: decimals }) => ({ asset, chain, decimals })),
    ),
    zones: timeZones(),
    timezone: await timezoneOf(database(), organizationId),
  };
}
