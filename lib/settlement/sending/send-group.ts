import { keccak256, type Hex } from "viem";
import { database } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { broadcast, publicClient, ranOutOfGas } from "#lib/chains/client.ts";
import { freeNonces } from "#lib/chains/free-nonces.ts";
import { firstFees, least, type Fees } from "#lib/onchain/relay-fees.ts";
import { feeCap, readMarket } from "#lib/onchain/relay/relay-send.ts";
import { SETTLEMENT_MAX_GAS, TOO_MUCH_GAS } from "#lib/onchain/token.ts";
import { signTransaction } from "#lib/settlement/sending/sign-transaction.ts";
import { insertTransactions, knownCalls, lockNonces, takenNonces, type StoredCall } from "#lib/settlement/transaction-store.ts";
import { settlementAccount } from "#lib/settlement/wallet.ts";

/** After `validBefore` the call has no effect; null if it does not expire. */
export type Call = { readonly to: Hex; readonly data: Hex; readonly validBefore: Date | null };

/** The chain's state may change after the estimate, before the call is mined. */
const withRoom = (gas: bigint): bigint => least((gas * 5n) / 4n, SETTLEMENT_MAX_GAS);

/** The error if the chain's base fee is above the configured limit, or if the settlement key cannot pay the gas. */
export class NoGas extends Error {}
/** The service pays for the gas, and the payer's account may be a contract whose code uses much of it. */
export class TooMuchGas extends Error {
  constructor() {
    super(TOO_MUCH_GAS);
  }
}

type PricedCall = { readonly call: Call; readonly gasLimit: bigint };
type Unsendable = { readonly call: Call; readonly error: unknown };
export type Outcome = { readonly hash: Hex } | { readonly error: unknown };

/** Null while the base fee is above the configured limit. */
export const feesNow = async (chain: string): Promise<Fees | null> => firstFees(await readMarket(chain), feeCap());

const hashOf = ({ to, data }: Call): Hex => keccak256(`${to.toLowerCase()}${data.slice(2)}` as Hex);

async function priceOf(chain: string, call: Call): Promise<PricedCall | Unsendable> {
  try {
    const { to, data } = call;
    const account = settlementAccount().address;
    // The pending state may already contain this call, in a transaction of this service that waits for a block.
    const gas = await publicClient(chain).estimateGas({ account, to, data, blockTag: "latest" });
    return gas > SETTLEMENT_MAX_GAS ? { call, error: new TooMuchGas() } : { call, gasLimit: withRoom(gas) };
  } catch (error) {
    return { call, error: ranOutOfGas(error) ? new TooMuchGas() : error };
  }
}

export type Facts = { readonly fees: Fees; readonly used: number; readonly balance: bigint };

export async function factsNow(chain: string): Promise<Facts> {
  const { address } = settlementAccount();
  const client = publicClient(chain);
  const [fees, used, balance] = await Promise.all([
    feesNow(chain),
    client.getTransactionCount({ address, blockTag: "latest" }),
    client.getBalance({ address }),
  ]);
  if (!fees) throw new NoGas("The chain's base fee is above the configured limit.");
  if (!Number.isSafeInteger(used)) throw new Error("The node's count of transactions is not a number.");
  return { fees, used, balance };
}

/** `outcomes` is in the order of the calls; `sent` resolves after one attempt to send each new transaction. */
type Group = { readonly outcomes: readonly Outcome[]; readonly sent: Promise<unknown> };

/**
 * `raise` multiplies the fees, up to the configured limit. @throws if `known` rejects, or if the transactions cannot be stored
 */
export async function sendGroup(chain: string, calls: readonly Call[], known = factsNow(chain), raise = 1n): Promise<Group> {
  const [facts, priced] = await Promise.all([known, Promise.all(calls.map((call) => priceOf(chain, call)))]);
  const raised = (fee: bigint): bigint => least(fee * raise, feeCap());
  const { maxFeePerGas, maxPriorityFeePerGas } = facts.fees;
  const fees = { maxFeePerGas: raised(maxFeePerGas), maxPriorityFeePerGas: raised(maxPriorityFeePerGas) };
  let left = facts.balance;
  const affordable = priced.map((one) => {
    if ("error" in one) return one;
    const cost = one.gasLimit * fees.maxFeePerGas;
    if (cost > left) return { call: one.call, error: new NoGas("The settlement wallet cannot pay for gas.") };
    left -= cost;
    return one;
  });
  return store(chain, { used: facts.used, fees, priced: affordable });
}

type GroupPlan = { readonly used: number; readonly fees: Fees; readonly priced: readonly (PricedCall | Unsendable)[] };

/** A stored transaction with the same call may still be mined, so its hash is the outcome even if the new estimate failed. */
async function store(chain: string, { used, fees, priced }: GroupPlan): Promise<Group> {
  const signer = { chain, signer: settlementAccount().address.toLowerCase() };
  const ready = priced.filter((one) => "gasLimit" in one);
  const { rows, hashes } = await database().transaction(async (tx) => {
    await lockNonces(tx, signer);
    const calls = priced.map(({ call }) => hashOf(call));
    const [known, taken] = await Promise.all([knownCalls(tx, chain, calls), takenNonces(tx, signer, used)]);
    const fresh = [...new Map(ready.map((one) => [hashOf(one.call), one] as const))].filter(([hash]) => !known.has(hash));
    const nonces = freeNonces(used, taken, fresh.length);
    const signed = await Promise.all(
      fresh.map(async ([callHash, { call, gasLimit }], at) => {
        const bytes = await signTransaction({ ...fees, ...call, chain, nonce: nonces[at]!, gasLimit });
        return { ...signer, ...call, ...bytes, callHash, transactionId: newId("settlementTransaction") };
      }),
    );
    await insertTransactions(tx, signed satisfies readonly StoredCall[]);
    return { rows: signed, hashes: new Map([...known, ...signed.map(({ callHash, hash }) => [callHash, hash] as const)]) };
  });
  return {
    outcomes: priced.map((one) => {
      const hash = hashes.get(hashOf(one.call));
      return hash ? { hash } : { error: "error" in one ? one.error : null };
    }),
    sent: Promise.all(rows.map((row) => broadcast(chain, row))),
  };
}
