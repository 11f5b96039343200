import { AsyncLocalStorage } from "node:async_hooks";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { concat, encodeFunctionData, type Abi, type Hex } from "viem";
import { assetAt } from "#lib/onchain/chains.ts";
import { isChainError, POLLING_MS, publicClient } from "#lib/onchain/client.ts";
import { perProcess } from "#lib/process.ts";
import { confirmationTimeoutMs } from "#lib/settlement/limits.ts";
import { senderOn } from "#lib/settlement/sender.ts";
import { settlementAccount } from "#lib/settlement/wallet.ts";

type Signer = ReturnType<typeof toFacilitatorEvmSigner>;
type Write = Parameters<Signer["writeContract"]>[0];

/** What is seen of a settlement beside the library's answer: it takes a question that was not answered for a no. */
export type Progress = { unanswered: boolean; transaction: Hex | null };

const progress = () => perProcess("settlementProgress", () => new AsyncLocalStorage<Progress>());

/** A refusal that rests on a question which the chain did not answer is none. @throws where one was not answered */
export async function withAnswers<T extends { readonly success: boolean; readonly transaction: string }>(
  seen: Progress,
  work: () => Promise<T>,
): Promise<T> {
  const result = await progress().run(seen, work);
  if (seen.unanswered && !result.success && result.transaction === "") throw new Error("The chain did not answer all questions.");
  return result;
}

const isRefusal = (error: unknown): boolean =>
  isChainError(error) &&
  error.walk((cause) =>
    ["ContractFunctionRevertedError", "ExecutionRevertedError"].includes((cause as { name?: string } | null)?.name ?? ""),
  ) !== null;

async function asked<T>(question: Promise<T>): Promise<T> {
  try {
    return await question;
  } catch (error) {
    const seen = progress().getStore();
    if (seen && !isRefusal(error)) seen.unanswered = true;
    throw error;
  }
}

/** After it a transfer's authorization does nothing. */
const endOf = ({ functionName, args }: Write): Date | null =>
  functionName === "transferWithAuthorization" && typeof args[4] === "bigint" ? new Date(Number(args[4]) * 1_000) : null;

async function write(chain: string, call: Write): Promise<Hex> {
  const { address, abi, functionName, args, dataSuffix } = call;
  const encoded = encodeFunctionData({ abi: abi as Abi, functionName, args: [...args] });
  const data = dataSuffix ? concat([encoded, dataSuffix]) : encoded;
  const hash = await asked(senderOn(chain).send({ to: address, data, validBefore: endOf(call) }));
  const seen = progress().getStore();
  if (seen) seen.transaction = hash;
  return hash;
}

/**
 * The chain in the library's hands. Whether a configured token is a contract is never asked: the library starts that question beside
 * others and hears nothing of its failure when one of those fails first.
 */
export function facilitatorSigner(chain: string): Signer {
  const client = () => publicClient(chain);
  const signer = {
    address: settlementAccount().address,
    readContract: (call: Parameters<Signer["readContract"]>[0]) => asked(client().readContract(call as never)),
    getCode: ({ address }: { readonly address: Hex }) =>
      assetAt(chain, address) ? Promise.resolve<Hex>("0x01") : asked(client().getCode({ address })),
    verifyTypedData: (message: Parameters<Signer["verifyTypedData"]>[0]) => asked(client().verifyTypedData(message as never)),
    writeContract: (call: Write) => write(chain, call),
    sendTransaction: ({ to, data }: { readonly to: Hex; readonly data: Hex }) =>
      asked(senderOn(chain).send({ to, data, validBefore: null })),
    waitForTransactionReceipt: ({ hash, timeout }: { readonly hash: Hex; readonly timeout?: number }) =>
      client().waitForTransactionReceipt({ hash, timeout: timeout ?? confirmationTimeoutMs(), pollingInterval: POLLING_MS }),
  };
  return toFacilitatorEvmSigner(signer, { confirmationTimeoutMs: confirmationTimeoutMs() });
}
