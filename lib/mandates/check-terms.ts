import { checkPolicy } from "#lib/mandates/policy/check-policy.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { assetOf, chainOf } from "#lib/chains/chains.ts";
import { Problem, type FieldError } from "#lib/problem.ts";

const refuse = (errors: readonly FieldError[]): Problem =>
  new Problem("invalid_request", {
    detail:
      errors.length === 1
        ? "The mandate cannot be saved: one field is wrong."
        : `The mandate cannot be saved: ${errors.length} fields are wrong.`,
    errors,
  });

/** @throws Problem invalid_request */
export function readCoin({ assets }: Policy): { readonly asset: string; readonly chain: string; readonly decimals: number } {
  const [coin] = assets;
  if (coin === undefined) throw refuse([{ pointer: "/policy/assets", detail: "Name one asset." }]);
  const { asset, chain } = coin;
  if (chainOf(chain) === null)
    throw refuse([{ pointer: "/policy/assets/0/chain", detail: `The chain ${chain} is not configured here.` }]);
  const token = assetOf(chain, asset);
  if (token === null)
    throw refuse([{ pointer: "/policy/assets/0/asset", detail: `${asset} on ${chain} is not configured here.` }]);
  return { asset, chain, decimals: token.tokenDecimals };
}

/** A saved asset must stay configured while mandates pay in it. */
export function decimalsOf({ chain, asset }: { readonly chain: string; readonly asset: string }): number {
  const token = assetOf(chain, asset);
  if (token === null) throw new Error(`${asset} on ${chain} is no longer configured, but a mandate pays in it.`);
  return token.tokenDecimals;
}

/** @throws Problem invalid_request with a pointer for each wrong field */
export function requirePolicy(policy: Policy, decimals: number): void {
  const errors = checkPolicy(policy, { decimals }).map(({ pointer, detail }) => ({ pointer: `/policy${pointer}`, detail }));
  if (errors.length > 0) throw refuse(errors);
}

type Bindings = {
  readonly chain: string;
  readonly agents: readonly string[] | null;
  readonly wallet: { readonly chain: string } | null;
  readonly unknown: ReadonlySet<string>;
};

/** @throws Problem invalid_request */
export function requireBindings({ chain, agents, wallet, unknown }: Bindings): void {
  const errors: FieldError[] = [];
  agents?.forEach((agent, index) => {
    if (unknown.has(agent))
      errors.push({ pointer: `/agents/${index}`, detail: "This is not a live service account of the organization." });
  });
  if (wallet !== null && wallet.chain !== chain) {
    errors.push({ pointer: "/wallet/chain", detail: `The mandate pays on ${chain}, so its wallet must be there.` });
  }
  if (errors.length > 0) throw refuse(errors);
}
