import { hashMessage, type Hex } from "viem";
import { acceptedByCode, signedByKey, unwrapped } from "#lib/onchain/token.ts";
import { askingChain } from "#lib/chains/asking-chain.ts";
import { invalidField } from "#lib/problem.ts";
import { ANY_CHAIN, type PayToChallenge } from "#lib/sellers/pay-to-store.ts";

/** The chain of the proof, or ANY_CHAIN if the key signed (EIP-191), because a key is the same on every chain. */
export async function requireSignedChallenge({ address, chain, text }: PayToChallenge, signature: Hex): Promise<string> {
  const hash = hashMessage(text);
  if (await signedByKey(address, hash, signature)) return ANY_CHAIN;
  if (await askingChain(chain, () => acceptedByCode(chain, address as Hex, hash, unwrapped(signature)))) return chain;
  throw invalidField(
    "/signature",
    `This is no signature of ${address} over the challenge's text. Sign the text as it is, byte for byte. If the address is a contract wallet that is not deployed on ${chain}, deploy the wallet first.`,
  );
}
