import type { Hex } from "viem";
import { PaymentRequiredV2Schema } from "@x402/core/schemas";
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { ADDRESS, lower } from "#lib/evm.ts";
import type { Atomic } from "#lib/money.ts";
import type { AssetOnChain } from "#lib/chains/chains.ts";

/** The payment that a 402 asks for. Addresses are in lower case. */
export type ChallengeTerms = {
  readonly amount: Atomic;
  readonly chain: string;
  readonly tokenAddress: Hex;
  readonly payTo: Hex;
  readonly resourceUrl: string;
  readonly maxTimeoutSeconds: number;
  readonly tokenName: unknown;
  readonly tokenVersion: unknown;
};

export type ExpectedChallenge = {
  readonly asset: AssetOnChain;
  readonly amount: Atomic;
  readonly payTo: Hex;
  readonly url: string;
};

/** A difference between a challenge and the expected payment. `pointer` is a JSON pointer into the challenge. */
export type Mismatch = {
  readonly field: "scheme" | "amount" | "payTo" | "asset" | "chain" | "resource" | "tokenName" | "tokenVersion";
  readonly pointer: string;
  readonly expected: string;
  readonly actual: string;
};

const AMOUNT = /^(0|[1-9][0-9]{0,77})$/;

/** Checks a challenge with x402's own schema. Null if it does not fit, or has no offer or more than 32. */
export function readChallenge(json: unknown): PaymentRequired | null {
  if (!PaymentRequiredV2Schema.safeParse(json).success) return null;
  const required = json as PaymentRequired;
  return required.accepts.length > 0 && required.accepts.length <= 32 ? required : null;
}

/** Standard clients treat a missing method as EIP-3009. For permit2 they sign a payment that executePayment refuses. */
const transferMethod = ({ extra }: PaymentRequirements): unknown => extra?.["assetTransferMethod"] ?? "eip3009";

const isExact = (accepted: PaymentRequirements): boolean =>
  accepted.scheme === "exact" && transferMethod(accepted) === "eip3009" && isReadable(accepted);

const isReadable = ({ amount, asset, payTo, maxTimeoutSeconds }: PaymentRequirements): boolean =>
  AMOUNT.test(amount) &&
  BigInt(amount) < 2n ** 256n &&
  ADDRESS.test(asset) &&
  ADDRESS.test(payTo) &&
  Number.isSafeInteger(maxTimeoutSeconds);

export const termsOf = (required: PaymentRequired, accepted: PaymentRequirements): ChallengeTerms => ({
  amount: BigInt(accepted.amount) as Atomic,
  chain: accepted.network,
  tokenAddress: lower(accepted.asset),
  payTo: lower(accepted.payTo),
  resourceUrl: required.resource?.url ?? "",
  maxTimeoutSeconds: Math.min(accepted.maxTimeoutSeconds, 3_600),
  tokenName: accepted.extra?.["name"],
  tokenVersion: accepted.extra?.["version"],
});

export const exactOffers = (required: PaymentRequired): readonly PaymentRequirements[] => required.accepts.filter(isExact);

/** The offers of a 402 that ask for the same payment as this one of them; they may differ in timeout and extra. */
export const equalOffers = ({
  required,
  accepted,
}: {
  readonly required: PaymentRequired;
  readonly accepted: PaymentRequirements;
}) =>
  exactOffers(required).filter(
    ({ network, amount, asset, payTo }) =>
      network === accepted.network &&
      amount === accepted.amount &&
      lower(asset as Hex) === lower(accepted.asset as Hex) &&
      lower(payTo as Hex) === lower(accepted.payTo as Hex),
  );

/** Whether two URLs are equal after normalization, without the fragment, which is never sent to a server. */
function sameUrl(a: string, b: string): boolean {
  if (!URL.canParse(a) || !URL.canParse(b)) return false;
  const [one, two] = [new URL(a), new URL(b)];
  one.hash = "";
  two.hash = "";
  return one.href === two.href;
}

const shown = (value: unknown): string => (typeof value === "string" ? value.slice(0, 200) : value === undefined ? "" : "?");

const kindOf = (accepted: PaymentRequirements): string =>
  `${shown(accepted.scheme)} by ${shown(transferMethod(accepted))}${isReadable(accepted) ? "" : " with terms that cannot be read"}`;

export function compareTerms(terms: ChallengeTerms, expected: ExpectedChallenge, index = 0): Mismatch[] {
  const { asset } = expected;
  const at = `/accepts/${index}`;
  const checks: readonly (readonly [boolean, Mismatch["field"], string, string, unknown])[] = [
    [terms.chain === asset.chain, "chain", `${at}/network`, asset.chain, terms.chain],
    [terms.tokenAddress === asset.tokenAddress, "asset", `${at}/asset`, asset.tokenAddress, terms.tokenAddress],
    [terms.payTo === expected.payTo, "payTo", `${at}/payTo`, expected.payTo, terms.payTo],
    [terms.amount === expected.amount, "amount", `${at}/amount`, expected.amount.toString(), terms.amount.toString()],
    [terms.tokenName === asset.tokenName, "tokenName", `${at}/extra/name`, asset.tokenName, terms.tokenName],
    [terms.tokenVersion === asset.tokenVersion, "tokenVersion", `${at}/extra/version`, asset.tokenVersion, terms.tokenVersion],
    [sameUrl(terms.resourceUrl, expected.url), "resource", "/resource/url", expected.url, terms.resourceUrl],
  ];
  return checks
    .filter(([same]) => !same)
    .map(([, field, pointer, wanted, actual]) => ({ field, pointer, expected: wanted, actual: shown(actual) }));
}

export type ChallengeComparison = {
  /** The offer with the fewest mismatches. Null, like `terms`, if no offer can be paid by scheme exact over EIP-3009. */
  readonly accepted: PaymentRequirements | null;
  readonly terms: ChallengeTerms | null;
  readonly mismatches: readonly Mismatch[];
};

export function compareChallenge(required: PaymentRequired, expected: ExpectedChallenge): ChallengeComparison {
  let best: ChallengeComparison | null = null;
  for (const [index, accepted] of required.accepts.entries()) {
    if (!isExact(accepted)) continue;
    const terms = termsOf(required, accepted);
    const mismatches = compareTerms(terms, expected, index);
    if (!best || mismatches.length < best.mismatches.length) best = { accepted, terms, mismatches };
  }
  const actual = required.accepts.map(kindOf).join(", ");
  const none: Mismatch = { field: "scheme", pointer: "/accepts", expected: "exact by eip3009", actual };
  return best ?? { accepted: null, terms: null, mismatches: [none] };
}
