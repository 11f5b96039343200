import { parseSignature, serializeSignature, type Hex } from "viem";
import { revokeMandate, suspendMandate, updateMandate } from "#lib/mandates/contract.ts";
import { revokeMandate as revoke } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { suspendMandate as suspend } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { updateMandate as update } from "#lib/mandates/lifecycle/update-mandate.ts";
import { assets, draftMandate } from "#test/mandates.ts";
import { raiseStepUp } from "#test/proofs.ts";
import { authorizationOf, bodyOf, prepared, signedBody, signTyped, type Registrable } from "#test/registrations.ts";
import { newKey, registryAbi, signRevocation, type Contracts } from "#test/smart-account.ts";
import { send } from "#test/tenant.ts";
import type { LocalChain } from "../../examples/chain.ts";

type World = { readonly chain: LocalChain; readonly contracts: Contracts };

const soon = () => Math.floor(Date.now() / 1_000) + 600;

/** A name, the expected refusal, and a function that makes the refused request. */
export type RefusalCase = readonly [
  name: string,
  expected: { readonly status: number; readonly code: string; readonly pointer?: string },
  ask: (scene: Registrable, world: World) => Promise<{ readonly mandateId?: string; readonly body: Record<string, unknown> }>,
];

const changed =
  (change: Record<string, unknown>): RefusalCase[2] =>
  async (scene) => ({ body: { ...(await signedBody(scene)), ...change } });

const otherwiseSigned =
  (resign: (signature: Hex) => Hex): RefusalCase[2] =>
  async (scene) => {
    const body = await signedBody(scene);
    return { body: { ...body, signature: resign(body["signature"] as Hex) } };
  };

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const highS = (signature: Hex): Hex => {
  const { r, s, yParity } = parseSignature(signature);
  return serializeSignature({ r, s: `0x${(ORDER - BigInt(s)).toString(16).padStart(64, "0")}`, yParity: 1 - yParity });
};

const stepped =
  (step: (scene: Registrable) => Promise<unknown>): RefusalCase[2] =>
  async (scene) => {
    const body = await signedBody(scene);
    await step(scene);
    return { body };
  };

const invalid = (pointer: string) => ({ status: 400, code: "invalid_request", pointer });
const unauthenticated = { status: 401, code: "unauthenticated" };

const delegating =
  (change: Record<string, unknown> | null, signer?: ReturnType<typeof newKey>): RefusalCase[2] =>
  async (scene) => {
    const what = await prepared(scene);
    const authorization = await authorizationOf(signer ?? scene.wallet, what, change ?? {});
    const body = bodyOf(what, await signTyped(scene.wallet, what.typedData));
    return {
      body: { ...body, authorization: change === null ? { ...authorization, nonce: authorization.nonce + 1 } : authorization },
    };
  };

/** Revokes a mandate on the chain with the wallet's own signature, without the service. */
async function closeByItself({ wallet }: Registrable, { chain, contracts }: World, nonce: bigint, onChainId: Hex): Promise<void> {
  const { registry } = contracts;
  const signature = await signRevocation(registry, wallet, onChainId, nonce);
  const args = [wallet.address, onChainId, nonce, 2n ** 40n, signature];
  await chain.mined(
    chain.client.writeContract({ address: registry, abi: registryAbi, functionName: "revokeWithSignature", args }),
  );
}

/** Requests that registerMandate refuses, whatever happened before. They can share a mandate, because they change nothing. */
export const refusedRequests: readonly RefusalCase[] = [
  ["an unknown mandate", unauthenticated, async (scene) => ({ mandateId: "mdt_unknown", body: await signedBody(scene) })],
  [
    "a draft, for which nothing was signed",
    unauthenticated,
    async (scene) => ({ mandateId: (await draftMandate(scene.as)).mandateId, body: await signedBody(scene) }),
  ],
  ["a chain that is not configured", invalid("/chain"), changed({ chain: "eip155:1" })],
  ["a deadline that has passed", invalid("/deadline"), changed({ deadline: Math.floor(Date.now() / 1_000) - 1 })],
  ["a deadline of more than an hour", invalid("/deadline"), changed({ deadline: soon() + 3_600 })],
  ["another token", invalid("/tokenAddress"), changed({ tokenAddress: newKey().address })],
  ["another token name", invalid("/tokenName"), changed({ tokenName: "USD Coin" })],
  ["another token version", invalid("/tokenVersion"), changed({ tokenVersion: "1" })],
  ["other token decimals", invalid("/tokenDecimals"), changed({ tokenDecimals: 18 })],
  [
    "a payee whose checksum is wrong",
    invalid("/payeeAddress"),
    changed({ payeeAddress: "0x036CBD53842c5426634e7929541eC2318f3dCF7e" }),
  ],
  ["the zero address", invalid("/payeeAddress"), changed({ payeeAddress: `0x${"0".repeat(40)}` })],
  ["a nonce beyond 256 bits", invalid("/nonce"), changed({ nonce: (2n ** 256n).toString() })],
  ["a nonce that is no number", invalid("/nonce"), changed({ nonce: "-1" })],
  ["a signature of half a byte", invalid("/signature"), changed({ signature: "0x123" })],
  ["an unknown field", invalid("/enforcementPath"), changed({ enforcementPath: 2 })],
  ["another payee than was signed", unauthenticated, changed({ payeeAddress: newKey().address })],
  ["another nonce than was signed", unauthenticated, changed({ nonce: "7" })],
  ["another deadline than was signed", unauthenticated, changed({ deadline: soon() })],
  ["a signature with a high s", unauthenticated, otherwiseSigned(highS)],
  ["a signature of 64 bytes", unauthenticated, otherwiseSigned((signature) => signature.slice(0, 130) as Hex)],
  ["a signature with v 0", unauthenticated, otherwiseSigned((signature) => `${signature.slice(0, 130)}00` as Hex)],
  ["an authorization to another contract", invalid("/authorization/address"), delegating({ address: newKey().address })],
  ["an authorization for every chain", invalid("/authorization/chainId"), delegating({ chainId: 0 })],
  ["an authorization with another nonce", invalid("/authorization/nonce"), delegating({ nonce: 5 })],
  ["an authorization whose nonce was changed", invalid("/authorization/nonce"), delegating(null)],
  ["an authorization of another wallet", unauthenticated, delegating({}, newKey())],
];

/**
 * Requests that registerMandate refuses because of the state of the mandate or of its wallet. Each needs a mandate of its own.
 */
export const refusedStates: readonly RefusalCase[] = [
  [
    "a paused mandate",
    { status: 403, code: "mandate_not_active" },
    stepped(({ as, mandateId }) => send(suspendMandate, suspend, { as, id: mandateId })),
  ],
  [
    "a revoked mandate",
    { status: 403, code: "mandate_revoked" },
    stepped(({ as, mandateId }) => send(revokeMandate, revoke, { as, id: mandateId })),
  ],
  [
    "a version of the mandate that is no longer in force",
    unauthenticated,
    stepped(({ as, mandateId }) => send(updateMandate, update, { as, id: mandateId, body: { name: "Renamed" } })),
  ],
  [
    "another payee than the policy admits",
    unauthenticated,
    stepped(({ as, mandateId }) =>
      send(updateMandate, update, {
        as,
        id: mandateId,
        body: { policy: { assets, limits: { perPayment: "1", total: "5" }, payTo: { allow: [newKey().address] } } },
      }),
    ),
  ],
  [
    "a mandate without a wallet",
    unauthenticated,
    stepped(({ as, mandateId }) => send(updateMandate, update, { as, id: mandateId, body: { wallet: null } })),
  ],
  [
    "more payments than the registry can hold",
    unauthenticated,
    stepped(async ({ as, mandateId, organizationId }) => {
      await raiseStepUp(organizationId);
      const policy = { assets, limits: { perPayment: "0.000001", total: "5000" } };
      await send(updateMandate, update, { as, id: mandateId, body: { policy } });
    }),
  ],
  [
    "a nonce that the wallet has used on the chain",
    { status: 409, code: "nonce_reused" },
    async (scene, world) => {
      const what = await prepared(scene);
      await closeByItself(scene, world, BigInt(what.nonce), `0x${"12".repeat(32)}`);
      return { body: bodyOf(what, await signTyped(scene.wallet, what.typedData)) };
    },
  ],
  [
    "an id that the wallet has revoked on the chain",
    { status: 409, code: "conflict" },
    async (scene, world) => {
      const what = await prepared(scene);
      await closeByItself(scene, world, 77n, what.typedData.message.mandateId as Hex);
      return { body: bodyOf(what, await signTyped(scene.wallet, what.typedData)) };
    },
  ],
];
