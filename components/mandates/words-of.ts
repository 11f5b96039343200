import { networkName } from "#lib/chains/network-name.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { summarize, type Summary } from "#lib/mandates/draft/summary.ts";

type Bindings = {
  readonly agents?: readonly string[] | undefined;
  readonly wallet?: { readonly address: string } | undefined;
};

export const wordsOf = (policy: Policy, { agents, wallet }: Bindings, names: Readonly<Record<string, string>>): Summary =>
  summarize(policy, {
    agents: agents ?? null,
    wallet: wallet?.address,
    nameOf: (id) => names[id] ?? id,
    networkOf: networkName,
  });
