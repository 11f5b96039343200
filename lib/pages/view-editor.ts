import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { listLiveServiceAccounts } from "#lib/identity/keys/service-account-store.ts";
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

/** The maximum number of service accounts that a mandate may name. */
const AGENTS_MAX = 100;

export async function viewEditorChoices(scope: {
  readonly organizationId: string;
  readonly environment: Environment;
}): Promise<EditorChoices> {
  const accounts = await listLiveServiceAccounts({ ...scope, place: null, rows: AGENTS_MAX });
  return {
    agents: accounts.map(({ serviceAccountId: id, name }) => ({ id, name })),
    coins: env().CHAINS.flatMap(({ chain, assets }) =>
      assets.map(({ asset, tokenDecimals: decimals }) => ({ asset, chain, decimals })),
    ),
    zones: timeZones(),
    timezone: await timezoneOf(database(), scope.organizationId),
  };
}
