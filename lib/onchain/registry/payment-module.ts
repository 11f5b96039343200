import { encodeFunctionData, keccak256, parseAbi, parseEventLogs, stringToHex, type Hex } from "viem";
import { chainIdOf } from "#lib/chains/chains.ts";
import { publicClient } from "#lib/chains/client.ts";
import { deploymentOn } from "#lib/onchain/registry/deployments.ts";
import { blockRanges, isOver, judgeBlocks, type Evidence } from "#lib/onchain/evidence.ts";
import { policySignerAccount } from "#lib/onchain/keys.ts";
import type { RegisteredPayment } from "#lib/onchain/registry/refusals.ts";
import { tokenAbi } from "#lib/onchain/token.ts";

const moduleAbi = parseAbi([
  "function pay(address account, bytes32 mandateId, bytes32 paymentId, address token, address payee, uint256 value, uint256 deadline, bytes signature)",
]);

const countingAbi = parseAbi([
  "function paymentUsed(address account, bytes32 mandateId, bytes32 paymentId) view returns (bool)",
  "event PaymentConsumed(address indexed account, bytes32 indexed mandateId, bytes32 indexed paymentId, uint256 value)",
]);

export const payTypes = {
  Pay: [
    { name: "account", type: "address" },
    { name: "mandateId", type: "bytes32" },
    { name: "paymentId", type: "bytes32" },
    { name: "token", type: "address" },
    { name: "payee", type: "address" },
    { name: "value", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

/** The registry counts an id only once for each registered version of a mandate. */
export const paymentIdOf = (authorizationId: string): Hex => keccak256(stringToHex(authorizationId));

/** The call makes one payment, at most once and until the deadline. Anyone who has the call may send it. */
export async function moduleCall(payment: RegisteredPayment, paymentId: Hex, deadline: bigint): Promise<{ to: Hex; data: Hex }> {
  const { chain, account, onChainId: mandateId, token, payee, value } = payment;
  const to = deploymentOn(chain).paymentModule;
  const signature = await policySignerAccount().signTypedData({
    domain: { name: "PaymentModule", version: "1", chainId: chainIdOf(chain), verifyingContract: to },
    types: payTypes,
    primaryType: "Pay",
    message: { account, mandateId, paymentId, token, payee, value, deadline },
  });
  const args = [account, mandateId, paymentId, token, payee, value, deadline, signature] as const;
  return { to, data: encodeFunctionData({ abi: moduleAbi, functionName: "pay", args }) };
}

/** Addresses are in lower case. */
export type ModulePayment = RegisteredPayment & {
  readonly registry: Hex;
  readonly paymentId: Hex;
  /** From this time on, the payment module refuses the payment. */
  readonly validBefore: Date;
  readonly fromBlock: bigint;
};

type PaymentKey = Pick<ModulePayment, "chain" | "registry" | "account" | "onChainId" | "paymentId">;

export const paymentUsedAt = (
  { chain, registry, account, onChainId, paymentId }: PaymentKey,
  blockNumber: bigint,
): Promise<boolean> =>
  publicClient(chain).readContract({
    address: registry,
    abi: countingAbi,
    functionName: "paymentUsed",
    args: [account, onChainId, paymentId],
    blockNumber,
  });

/** Reads blocks like judgeBlocks. @throws if the chain does not answer, or has no event of a payment that was counted */
export const readModuleEvidence = (payment: ModulePayment, now: Date, at?: bigint): Promise<Evidence> =>
  judgeBlocks(payment.chain, (block) => evidenceAt(payment, now, block), at);

async function evidenceAt(payment: ModulePayment, now: Date, depth: bigint): Promise<Evidence> {
  const { chain, validBefore } = payment;
  const [used, over] = await Promise.all([paymentUsedAt(payment, depth), isOver(chain, depth, validBefore, now)]);
  if (!used) return { kind: over ? "expired" : "unused" };
  const transaction = await countedIn(payment, depth);
  const moved = await hasTransfer(payment, transaction);
  return moved ? { kind: "transferred", transaction } : { kind: "spent", transaction, canceled: false };
}

async function countedIn(
  { chain, registry, account, onChainId, paymentId, fromBlock }: ModulePayment,
  depth: bigint,
): Promise<Hex> {
  const wanted = { abi: countingAbi, eventName: "PaymentConsumed", args: { account, mandateId: onChainId, paymentId } } as const;
  for (const blocks of blockRanges(fromBlock, depth)) {
    const [event] = await publicClient(chain).getContractEvents({ address: registry, ...blocks, ...wanted });
    if (event) return event.transactionHash;
  }
  throw new Error("The registry says that the payment was made, and no event of it was found.");
}

/** The token's Transfer follows the PaymentConsumed of the same payment; one transaction may contain several payments. */
async function hasTransfer(
  { chain, registry, account, paymentId, token, payee, value }: ModulePayment,
  hash: Hex,
): Promise<boolean> {
  const { logs } = await publicClient(chain).getTransactionReceipt({ hash });
  const mine = logs.filter((log) => [registry, token].includes(log.address.toLowerCase() as Hex));
  const events = parseEventLogs({ abi: [...countingAbi, ...tokenAbi], logs: mine });
  const at = events.findIndex((event) => event.eventName === "PaymentConsumed" && event.args.paymentId === paymentId);
  const next = events.slice(at + 1).find((event) => event.eventName === "Transfer");
  return (
    at >= 0 &&
    next?.eventName === "Transfer" &&
    next.address.toLowerCase() === token &&
    next.args.from.toLowerCase() === account &&
    next.args.to.toLowerCase() === payee &&
    next.args.value === value
  );
}
