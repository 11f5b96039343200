import { concat, pad, parseSignature, toHex, type Hex } from "viem";
import { policySignerAccount } from "#lib/onchain/keys.ts";

const word = (value: bigint): Hex => toHex(value, { size: 32 });

export type SlotPlace = { readonly onChainId: Hex; readonly period: number; readonly slot: number };

export type ProvenTransfer = {
  readonly token: Hex;
  readonly payTo: Hex;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
};

/** Within the registry's limits, an account that delegates to the smart account contract accepts this proof as its signature. */
export async function proveTransfer(digest: Hex, { onChainId, period, slot }: SlotPlace, transfer: ProvenTransfer): Promise<Hex> {
  const { r, s, v } = parseSignature(await policySignerAccount().sign({ hash: digest }));
  const { token, payTo, value, validAfter, validBefore } = transfer;
  return concat([
    onChainId,
    pad(token, { size: 32 }),
    pad(payTo, { size: 32 }),
    word(value),
    word(validAfter),
    word(validBefore),
    word(BigInt(period)),
    word(BigInt(slot)),
    r,
    s,
    word(v ?? 27n),
  ]);
}
