import { z } from "zod";
import { Id } from "#lib/ids.ts";
import type { AssetOnChain } from "#lib/chains/chains.ts";
import type { FieldError } from "#lib/problem.ts";
import { Address, AssetSymbol, ChainName } from "#lib/evm.ts";
import { findings, SellerText } from "#lib/storefront/seller-text.ts";
import type { Environment } from "#lib/vocabulary.ts";

const Href = z.string().max(2_048);

/** Fields that are not listed here are dropped. */
const Manifest = z.object({
  version: z.string().max(32).optional(),
  name: SellerText(120).pipe(z.string().min(1)),
  sellerId: Id.optional(),
  seller: z.object({ name: SellerText(120).optional(), domain: z.string().max(260) }),
  resourceId: Id.optional(),
  catalogUrl: Href.optional(),
  quoteUrl: Href,
  checkoutUrl: Href,
  supportedPaymentChallengeTypes: z.array(z.string().max(32)).min(1).max(16),
  chain: ChainName,
  asset: AssetSymbol,
  paymentScope: z.object({
    paymentMode: z.string().max(32).optional(),
    payTo: Address,
    tokenAddress: Address,
    tokenName: z.string().max(64).optional(),
    tokenVersion: z.string().max(16).optional(),
    tokenDecimals: z.int().min(0).max(36),
    facilitatorAddresses: z.array(Address).max(16).optional(),
  }),
  environment: z.enum(["sandbox", "production"]).optional(),
  agentInstructions: SellerText(2_000).optional(),
});
export type Manifest = z.output<typeof Manifest>;

export type ReadManifest =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly errors: readonly FieldError[] };

/** A link to another origin would let the manifest sell in the name of another host. */
function checkLink(pointer: string, href: string | undefined, origin: string): FieldError[] {
  if (href === undefined) return [];
  const url = URL.parse(href);
  const good = url?.origin === origin && url.username === "" && url.password === "" && url.hash === "";
  return good ? [] : [{ pointer, detail: `This must be an address on ${origin}.` }];
}

export function readManifest(json: unknown, served: URL, environment: Environment): ReadManifest {
  const parsed = Manifest.safeParse(json);
  if (!parsed.success) return { ok: false, errors: findings(parsed.error) };
  const manifest = parsed.data;
  const errors = [
    ...checkLink("/catalogUrl", manifest.catalogUrl, served.origin),
    ...checkLink("/quoteUrl", manifest.quoteUrl, served.origin),
    ...checkLink("/checkoutUrl", manifest.checkoutUrl, served.origin),
  ];
  if (manifest.seller.domain !== served.host)
    errors.push({ pointer: "/seller/domain", detail: `This is served by ${served.host} and can only speak for it.` });
  if (!manifest.supportedPaymentChallengeTypes.includes("x402"))
    errors.push({ pointer: "/supportedPaymentChallengeTypes", detail: "x402 is not among them." });
  if ((manifest.environment ?? environment) !== environment)
    errors.push({ pointer: "/environment", detail: `This installation is a ${environment}.` });
  return errors.length > 0 ? { ok: false, errors } : { ok: true, manifest };
}

type Token = {
  readonly tokenAddress?: string | undefined;
  readonly tokenName?: string | undefined;
  readonly tokenVersion?: string | undefined;
  readonly tokenDecimals?: number | undefined;
};

/** A field that is undefined fits. `at` is the start of the errors' pointers. */
export function compareToken(said: Token, asset: AssetOnChain, at = ""): FieldError[] {
  const checks: readonly (readonly [same: boolean, field: string, is: string])[] = [
    [
      said.tokenAddress === undefined || said.tokenAddress.toLowerCase() === asset.tokenAddress,
      "tokenAddress",
      asset.tokenAddress,
    ],
    [said.tokenName === undefined || said.tokenName === asset.tokenName, "tokenName", asset.tokenName],
    [said.tokenVersion === undefined || said.tokenVersion === asset.tokenVersion, "tokenVersion", asset.tokenVersion],
    [said.tokenDecimals === undefined || said.tokenDecimals === asset.tokenDecimals, "tokenDecimals", `${asset.tokenDecimals}`],
  ];
  return checks
    .filter(([same]) => !same)
    .map(([, field, is]) => ({ pointer: `${at}/${field}`, detail: `For ${asset.asset} on ${asset.chain} this is ${is}.` }));
}
