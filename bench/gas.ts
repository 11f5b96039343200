import { generatePrivateKey, privateKeyToAccount, sign } from "viem/accounts";
import { encodeFunctionData, type Abi, type Address, type Hex } from "viem";
import usdc from "../contracts/artifacts/TestUSDC.json" with { type: "json" };
import { startChain, usdcAddress, type LocalChain } from "../examples/chain.ts";
import {
  CHAIN_ID,
  MODULE,
  PROOFS,
  deployContracts,
  moduleAbi,
  paymentArgs,
  prove,
  randomBytes32,
  registrationArgs,
  registryAbi,
  signPayment,
  signRegistration,
  termsOf,
  transferArgs,
  transferDigest,
  type Contracts,
  type Terms,
} from "../test/helpers/smart-account.ts";

/** The gas of one operation, from the receipt of its transaction. */
export type Gas = { readonly operation: string; readonly gas: number };

const usdcAbi = usdc.abi as Abi;
type TransactionRequest = { readonly to: Address; readonly data?: Hex; readonly authorizationList?: readonly unknown[] };

async function gasOf({ client }: LocalChain, sent: TransactionRequest): Promise<number> {
  const hash = await client.sendTransaction(sent as Parameters<typeof client.sendTransaction>[0]);
  const { gasUsed, status } = await client.waitForTransactionReceipt({ hash });
  if (status !== "success") throw new Error("A measured transaction failed.");
  return Number(gasUsed);
}

/**
 * Makes an account that has tokens and does not delegate to a contract yet, and a function that makes terms of its mandates.
 */
async function newAccount(chain: LocalChain) {
  const key = generatePrivateKey();
  const owner = { ...privateKeyToAccount(key), key };
  await chain.mint(owner.address, 1_000_000n);
  const now = Number((await chain.client.getBlock()).timestamp);
  const terms = (enforcementPath: number): Terms => termsOf(owner.address, now, { enforcementPath });
  return { owner, terms, validBefore: BigInt(now + 600) };
}

const registering = async (contracts: Contracts, owner: Awaited<ReturnType<typeof newAccount>>["owner"], terms: Terms) => {
  const registration = await signRegistration(contracts.registry, owner, terms);
  const args = registrationArgs(registration);
  const data = encodeFunctionData({ abi: registryAbi, functionName: "registerMandate", args });
  return { mandateId: registration.mandateId, sent: { to: contracts.registry, data } };
};

/** Measures the gas of each operation on the chain. No payee has tokens before, which makes a transfer to it cost more. */
export async function measureGas(): Promise<readonly Gas[]> {
  const chain = await startChain();
  try {
    const contracts = await deployContracts(chain);
    const { owner, terms, validBefore } = await newAccount(chain);
    const settle = (to: Address, signed: Hex, transfer: Parameters<typeof transferArgs>[0]) =>
      gasOf(chain, {
        to,
        data: encodeFunctionData({
          abi: usdcAbi,
          functionName: "transferWithAuthorization",
          args: transferArgs(transfer, signed),
        }),
      });
    const plain = {
      from: owner.address,
      to: terms(PROOFS).payee,
      value: 1_000n,
      validAfter: 0n,
      validBefore,
      nonce: randomBytes32(),
    };
    const byKey = await settle(usdcAddress, await sign({ hash: transferDigest(plain), privateKey: owner.key, to: "hex" }), plain);
    const proofs = terms(PROOFS);
    const first = await registering(contracts, owner, proofs);
    const register = await gasOf(chain, first.sent);
    const authorization = await owner.signAuthorization({ address: contracts.implementation, chainId: CHAIN_ID, nonce: 0 });
    const counted = terms(MODULE);
    const second = await registering(contracts, owner, counted);
    const both = await gasOf(chain, { ...second.sent, authorizationList: [authorization] });
    const transfer = { from: owner.address, to: proofs.payee, value: 1_000n, validAfter: 0n, validBefore };
    const proof = await prove(contracts.policySigner.key, { mandateId: first.mandateId, period: 0n, slot: 0n }, transfer);
    const byProof = await settle(usdcAddress, proof.signature, proof.transfer);
    const payment = {
      account: owner.address,
      mandateId: second.mandateId,
      paymentId: randomBytes32(),
      token: usdcAddress,
      payee: counted.payee,
      value: 1_000n,
      deadline: validBefore,
    };
    const args = paymentArgs(payment, await signPayment(contracts.paymentModule, contracts.policySigner, payment));
    const byModule = await gasOf(chain, {
      to: contracts.paymentModule,
      data: encodeFunctionData({ abi: moduleAbi, functionName: "pay", args }),
    });
    return [
      { operation: "register a mandate", gas: register },
      { operation: "delegate and register in one transaction", gas: both },
      { operation: "pay by a key's own signature (for comparison)", gas: byKey },
      { operation: "pay by a proof of the account", gas: byProof },
      { operation: "pay by the module", gas: byModule },
    ];
  } finally {
    await chain.stop();
  }
}
