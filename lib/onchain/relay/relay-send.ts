import { decodeErrorResult, keccak256, parseAbi, type BaseError, type Hex } from "viem";
import { database } from "#lib/db/client.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import { env } from "#lib/env.ts";
import { chainIdOf } from "#lib/chains/chains.ts";
import { broadcast, chainReverted, isChainError, publicClient } from "#lib/chains/client.ts";
import { senderOf } from "#lib/onchain/keys.ts";
import { firstFees, type Fees, type Market } from "#lib/onchain/relay-fees.ts";
import { holdsLease, type Lease } from "#lib/onchain/relay-lease-store.ts";
import { refusalNow } from "#lib/onchain/relay/relay-rights.ts";
import { nextNonce, storeSigned, type RelayRow, type SignedRelay } from "#lib/onchain/relay-store.ts";
import { relayTargetOf } from "#lib/onchain/relay-target.ts";

/** Thrown if a transaction is not sent, with the reason. `final` means that it will never be sent. */
export class NotSent extends Error {
  readonly final: boolean;
  constructor(message: string, { final }: { readonly final: boolean }) {
    super(message);
    this.final = final;
  }
}

const refusals = parseAbi([
  "error DeadlinePassed()",
  "error NonceUsed()",
  "error AlreadyRegistered()",
  "error InvalidTerms()",
  "error InvalidSignature()",
  "error NotAllowed()",
  "error Refused(uint8 refusal)",
]);

const GWEI = 1_000_000_000;
export const feeCap = (): bigint => BigInt(Math.round(env().RELAY_MAX_FEE_GWEI * GWEI));

export async function readMarket(chain: string): Promise<Market> {
  const client = publicClient(chain);
  const [{ baseFeePerGas }, priority] = await Promise.all([client.getBlock(), client.estimateMaxPriorityFeePerGas()]);
  return { baseFee: baseFeePerGas ?? 0n, priority };
}

function nameOf(reverted: BaseError): string {
  const found = reverted.walk((cause) => typeof (cause as { data?: unknown }).data === "string") as { data?: Hex } | null;
  try {
    const { errorName, args } = decodeErrorResult({ abi: refusals, data: found?.data ?? "0x" });
    return args && args.length > 0 ? `${errorName}(${args.join(", ")})` : errorName;
  } catch {
    return "no reason given";
  }
}

/** @throws NotSent if the call would be reverted, or viem's error if the chain does not answer */
async function estimate({ chain, to, data, authorizationList, key }: RelayRow): Promise<bigint> {
  try {
    return await publicClient(chain).estimateGas({
      // Pass only the address. For an account with a key, viem would send more requests to complete the transaction.
      account: senderOf(key).address,
      to: to as Hex,
      data: data as Hex,
      ...(authorizationList && { authorizationList: [...authorizationList] }),
    });
  } catch (error) {
    if (!isChainError(error) || !chainReverted(error)) throw error;
    // Calls of the guardian are tried again, because an operator can remove the cause of their revert.
    throw new NotSent(`The call would be reverted: ${nameOf(error)}.`, { final: key !== "guardian" });
  }
}

type SendPlan = { readonly gasLimit: bigint; readonly fees: Fees; readonly used: number };

/** Reads what sending needs from the chain, before the database transaction that takes the nonce. @throws NotSent, viem's error */
async function prepare(row: RelayRow): Promise<SendPlan> {
  const { chain, purpose, gasCap, to } = row;
  if (to !== relayTargetOf(purpose, chain))
    throw new NotSent("The configuration names another contract.", { final: row.key !== "guardian" });
  const client = publicClient(chain);
  const { address } = senderOf(row.key);
  const [estimated, market, used, balance] = await Promise.all([
    estimate(row),
    readMarket(chain),
    client.getTransactionCount({ address, blockTag: "latest" }),
    client.getBalance({ address }),
  ]);
  if (estimated > gasCap) throw new NotSent(`It needs ${estimated} gas, more than ${gasCap}.`, { final: row.key !== "guardian" });
  const wished = (estimated * 13n) / 10n;
  const gasLimit = wished < gasCap ? wished : gasCap;
  const fees = firstFees(market, feeCap());
  if (!fees) throw new NotSent("The chain's base fee is above the configured limit.", { final: false });
  if (balance < gasLimit * fees.maxFeePerGas)
    throw new NotSent(`The ${row.key}'s balance does not pay for its gas.`, { final: false });
  return { gasLimit, fees, used };
}

/** The caller stores the signed bytes before they are sent, so that the same bytes can be sent again. */
export async function sign(
  row: RelayRow,
  { nonce, gasLimit, fees, fence }: { nonce: number; gasLimit: bigint; fees: Fees; fence: number },
): Promise<SignedRelay> {
  const account = senderOf(row.key);
  const call = { chainId: chainIdOf(row.chain), to: row.to as Hex, data: row.data as Hex, nonce, gas: gasLimit, ...fees };
  const rawTransaction = row.authorizationList
    ? await account.signTransaction({ ...call, type: "eip7702", authorizationList: [...row.authorizationList] })
    : await account.signTransaction({ ...call, type: "eip1559" });
  const hash = keccak256(rawTransaction);
  return { ...fees, signer: account.address.toLowerCase() as Hex, nonce, gasLimit, rawTransaction, hash, fence };
}

/** If the process dies after the bytes are stored, the next holder of the lease sends them. @throws NotSent, or viem's error */
export async function sendQueued(row: RelayRow, lease: Lease): Promise<void> {
  const { gasLimit, fees, used } = await prepare(row);
  const sent = await database().transaction(async (tx) => {
    await enterGate(tx);
    const refusal = await refusalNow(tx, row);
    if (refusal !== null) throw new NotSent(refusal, { final: true });
    if (!(await holdsLease(tx, lease))) return null;
    const signer = senderOf(row.key).address.toLowerCase();
    const nonce = await nextNonce(tx, { chain: row.chain, signer, used });
    if (nonce === null) throw new NotSent("The chain does not have all earlier transactions of the key yet.", { final: false });
    return storeSigned(tx, row, await sign(row, { nonce, gasLimit, fees, fence: lease.fence }));
  });
  if (sent) await broadcast(sent.chain, sent);
}
