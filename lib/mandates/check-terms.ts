import { chainOfUnit } from "#lib/money.ts";
import { checkPolicy } from "#lib/mandates/policy/check-policy.ts";
import { countsIn } from "#lib/mandates/policy/compile-policy.ts";
import { commonActions } from "#lib/next-actions.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { assetOf, chainOf, configuredDecimals } from "#lib/chains/chains.ts";
import { invalidField, Problem, type FieldError } from "#lib/problem.ts";
import { Unit } from "#lib/vocabulary.ts";

const refuse = (errors: readonly FieldError[]): Problem =>
  new Problem("invalid_request", {
    detail:
      errors.length === 1
        ? "The mandate cannot be saved: one field is wrong."
        : `The mandate cannot be saved: ${errors.length} fields are wrong.`,
    errors,
  });

type Coin = { readonly chain: string; readonly asset: string };

function unconfigured({ chain, asset }: Coin, at: number): FieldError[] {
  const pointer = `/policy/assets/${at}`;
  if (isUnit({ chain, asset })) return [];
  if (chainOf(chain) === null) return [{ pointer: `${pointer}/chain`, detail: `The chain ${chain} is not configured here.` }];
  return assetOf(chain, asset) === null
    ? [{ pointer: `${pointer}/asset`, detail: `${asset} on ${chain} is not configured here.` }]
    : [];
}

const isUnit = ({ chain, asset }: Coin): boolean => Unit.options.some((unit) => unit === asset && chain === chainOfUnit(unit));

/** What the policy's limits are in, and its decimals. @throws Problem invalid_request for an asset that is not configured */
export function readCoin(policy: Policy): Coin & { readonly decimals: number } {
  const { unit, assets } = policy;
  const errors = assets.flatMap(unconfigured);
  if (errors.length > 0) throw refuse(errors);
  const coin = countsIn(policy);
  if (unit === undefined && isUnit(coin))
    throw refuse([{ pointer: "/policy/unit", detail: `A mandate in ${coin.asset} names its unit.` }]);
  return { ...coin, decimals: decimalsOf(coin) };
}

/** The decimals of a mandate's limits, or of a payment's asset. A saved asset must stay configured while mandates pay in it. */
export function decimalsOf({ chain, asset }: Coin): number {
  const decimals = configuredDecimals(chain, asset);
  if (decimals === null) throw new Error(`${asset} on ${chain} is no longer configured, but a mandate pays in it.`);
  return decimals;
}

/** Usage is counted in the mandate's unit or asset, so that cannot change. @throws Problem invalid_request */
export function requireSameCoin(mandate: Coin, policy: Policy): void {
  const coin = countsIn(policy);
  if (coin.asset === mandate.asset && coin.chain === mandate.chain) return;
  if (policy.unit === undefined && !isUnit(mandate)) {
    throw invalidField(
      "/policy/assets/0",
      `This mandate pays in ${mandate.asset} on ${mandate.chain} for life. Make another mandate.`,
    );
  }
  const counts = isUnit(mandate) ? mandate.asset : `${mandate.asset} on ${mandate.chain}`;
  throw new Problem("invalid_request", {
    detail: "A mandate keeps its unit for life.",
    errors: [{ pointer: "/policy/unit", detail: `This mandate counts in ${counts} for life. Make another mandate.` }],
    nextActions: [{ ...commonActions.createMandate, href: "/mandates/new" }],
  });
}

/** @throws Problem invalid_request with a pointer for each wrong field */
export function requirePolicy(policy: Policy, decimals: number): void {
  const errors = checkPolicy(policy, { decimals }).map(({ pointer, detail }) => ({ pointer: `/policy${pointer}`, detail }));
  if (errors.length > 0) throw refuse(errors);
}

type Bindings = {
  readonly policy: Policy;
  readonly agents: readonly string[] | null;
  readonly wallet: { readonly chain: string } | null;
  readonly unknown: ReadonlySet<string>;
};

/** @throws Problem invalid_request */
export function requireBindings({ policy: { assets }, agents, wallet, unknown }: Bindings): void {
  const errors: FieldError[] = [];
  agents?.forEach((agent, index) => {
    if (unknown.has(agent))
      errors.push({ pointer: `/agents/${index}`, detail: "This is not a live service account of the organization." });
  });
  if (wallet !== null && !assets.some(({ chain }) => chain === wallet.chain)) {
    const chains = [...new Set(assets.map(({ chain }) => chain))].join(" or ");
    errors.push({ pointer: "/wallet/chain", detail: `The mandate pays on ${chains}, so its wallet must be there.` });
  }
  if (errors.length > 0) throw refuse(errors);
}
