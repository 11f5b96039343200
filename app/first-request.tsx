import { FirstRequest, type FirstRequestReader } from "#components/docs/first-request.tsx";
import { sampleFor } from "#lib/pages/docs/quickstart.ts";
import { env } from "#lib/env.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { viewServiceAccounts } from "#lib/pages/settings/view-service-accounts.ts";
import { viewMandates } from "#lib/pages/buyer/view-mandates.ts";
import { assetOf } from "#lib/chains/chains.ts";

const MANDATES = 20;
/** 12 hours, because people may run the copied text hours later; the service refuses requests valid for more than a day. */
const EXPIRES_MS = 12 * 3_600_000;

async function readReader(caller: SessionCaller | null): Promise<FirstRequestReader | null> {
  if (!caller || caller.organizationId === null) return null;
  const member = { ...caller, organizationId: caller.organizationId };
  const may = (...needed: Parameters<typeof caller.capabilities.has>) => caller.capabilities.has(...needed);
  const [mandates, accounts] = await Promise.all([
    may("mandates:read") ? viewMandates(member, { status: "active", limit: MANDATES }) : null,
    may("serviceAccounts:read") ? viewServiceAccounts(member, { revoked: false, cursor: undefined }) : null,
  ]);
  const [account] = accounts?.items ?? [];
  return {
    mandates: (mandates?.items ?? []).map(({ mandateId, name }) => ({ mandateId, name })),
    key: account && { serviceAccountId: account.serviceAccountId, preview: account.keyPreview },
    may: {
      authorize: may("payments:authorize"),
      createMandates: may("mandates:create") && may("mandates:manage"),
      readPayments: may("payments:read"),
    },
  };
}

export async function ReadersFirstRequest({ caller }: { readonly caller: SessionCaller | null }) {
  const { BASE_URL, ENVIRONMENT, CHAINS } = env();
  const [chain] = CHAINS;
  const [first] = chain?.assets ?? [];
  const asset = chain && first && assetOf(chain.chain, first.asset);
  if (!asset) return null;
  const fresh = { name: `first-${crypto.randomUUID().slice(0, 8)}`, expiresAt: new Date(Date.now() + EXPIRES_MS) };
  return (
    <FirstRequest
      baseUrl={BASE_URL}
      sandbox={ENVIRONMENT === "sandbox"}
      sample={sampleFor(asset)}
      reader={await readReader(caller)}
      fresh={fresh}
    />
  );
}
