import {
  concat,
  encodeAbiParameters,
  getAddress,
  hashTypedData,
  keccak256,
  pad,
  parseSignature,
  toHex,
  type Abi,
  type Address,
  type Hex,
} from "viem";
import { generatePrivateKey, privateKeyToAccount, sign, type PrivateKeyAccount } from "viem/accounts";
import { payTypes } from "#lib/onchain/registry/payment-module.ts";
import { registerTypes } from "#lib/onchain/registry/registry.ts";
import { transferTypes } from "#lib/onchain/token.ts";
import moduleArtifact from "../../contracts/artifacts/PaymentModule.json" with { type: "json" };
import registryArtifact from "../../contracts/artifacts/MandateRegistry.json" with { type: "json" };
import accountArtifact from "../../contracts/artifacts/SmartPaymentAccount.json" with { type: "json" };
import { usdcAddress, type LocalChain } from "../../examples/chain.ts";

export const registryAbi = registryArtifact.abi as Abi;
export const moduleAbi = moduleArtifact.abi as Abi;
export const accountAbi = accountArtifact.abi as Abi;

export const CHAIN_ID = 84_532;
export const PROOFS = 1;
export const MODULE = 2;

export type Terms = {
  readonly account: Address;
  readonly payee: Address;
  readonly token: Address;
  readonly perPaymentLimit: bigint;
  readonly periodLimit: bigint;
  readonly periodSeconds: number;
  readonly start: number;
  readonly end: number;
  readonly maxPaymentsPerPeriod: number;
  readonly enforcementPath: number;
  readonly termsHash: Hex;
};

/** Limits for the chain: three payments of 1,000 atomic units per hour to a new address. */
export const termsOf = (account: Address, now: number, change: Partial<Terms> = {}): Terms => ({
  account,
  payee: newKey().address,
  token: usdcAddress,
  perPaymentLimit: 1_000n,
  periodLimit: 3_000n,
  periodSeconds: 3_600,
  start: now - 10,
  end: now + 100_000,
  maxPaymentsPerPeriod: 3,
  enforcementPath: PROOFS,
  termsHash: randomBytes32(),
  ...change,
});

const revokeTypes = {
  RevokeMandate: [
    { name: "mandateId", type: "bytes32" },
    { name: "account", type: "address" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
} as const;

export const randomBytes32 = (): Hex => toHex(crypto.getRandomValues(new Uint8Array(32)));
export const randomNonce = (): bigint => BigInt(randomBytes32());
export const newKey = (): Key => keyOf(generatePrivateKey());

export type Contracts = Awaited<ReturnType<typeof deployContracts>>;

type Key = PrivateKeyAccount & { readonly key: Hex };

export const keyOf = (key: Hex): Key => ({ ...privateKeyToAccount(key), key });

/** Deploys the three contracts on a local chain. The keys are new unless the caller passes some. */
export async function deployContracts(
  chain: LocalChain,
  { guardian = newKey(), policySigner = newKey() }: { readonly guardian?: Key; readonly policySigner?: Key } = {},
) {
  const administrator = newKey();
  const deploy = async (artifact: { abi: unknown; bytecode: string }, args: readonly unknown[]): Promise<Address> => {
    const hash = await chain.client.deployContract({ abi: artifact.abi as Abi, bytecode: artifact.bytecode as Hex, args });
    const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash });
    return getAddress(contractAddress!);
  };
  const registry = await deploy(registryArtifact, [guardian.address, administrator.address, policySigner.address]);
  const paymentModule = await deploy(moduleArtifact, [registry]);
  const implementation = await deploy(accountArtifact, [registry, paymentModule]);
  return { registry, paymentModule, implementation, guardian, administrator, policySigner };
}

/** A person's account that delegates to the smart account contract. */
export async function delegated(chain: LocalChain, implementation: Address) {
  const owner = newKey();
  await chain.fund(owner.address);
  const nonce = await chain.client.getTransactionCount({ address: owner.address });
  const authorization = await owner.signAuthorization({ address: implementation, chainId: CHAIN_ID, nonce });
  await chain.mined(chain.client.sendTransaction({ to: owner.address, authorizationList: [authorization] }));
  return owner;
}

export type Registration = {
  readonly mandateId: Hex;
  readonly terms: Terms;
  readonly nonce: bigint;
  readonly deadline: bigint;
  readonly signature: Hex;
};

export async function signRegistration(
  registry: Address,
  signer: PrivateKeyAccount,
  terms: Terms,
  change: { mandateId?: Hex; nonce?: bigint; deadline?: bigint; chainId?: number } = {},
): Promise<Registration> {
  const { mandateId = randomBytes32(), nonce = randomNonce(), deadline = 2n ** 40n, chainId = CHAIN_ID } = change;
  const signature = await signer.signTypedData({
    domain: { name: "MandateRegistry", version: "1", chainId, verifyingContract: registry },
    types: registerTypes,
    primaryType: "RegisterMandate",
    message: { mandateId, ...terms, nonce, deadline },
  });
  return { mandateId, terms, nonce, deadline, signature };
}

export const registrationArgs = ({ mandateId, terms, nonce, deadline, signature }: Registration): readonly unknown[] => [
  mandateId,
  terms,
  nonce,
  deadline,
  signature,
];

export const signRevocation = (
  registry: Address,
  signer: PrivateKeyAccount,
  mandateId: Hex,
  nonce: bigint,
  deadline = 2n ** 40n,
) =>
  signer.signTypedData({
    domain: { name: "MandateRegistry", version: "1", chainId: CHAIN_ID, verifyingContract: registry },
    types: revokeTypes,
    primaryType: "RevokeMandate",
    message: { mandateId, account: signer.address, nonce, deadline },
  });

export type Transfer = {
  readonly from: Address;
  readonly to: Address;
  readonly value: bigint;
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
};

export const transferDigest = (message: Transfer, token: Address = usdcAddress): Hex =>
  hashTypedData({
    domain: { name: "USDC", version: "2", chainId: CHAIN_ID, verifyingContract: token },
    types: transferTypes,
    primaryType: "TransferWithAuthorization",
    message,
  });

export type Slot = { readonly mandateId: Hex; readonly period: bigint; readonly slot: bigint };

export const slotNonce = ({ mandateId, period, slot }: Slot): Hex =>
  keccak256(encodeAbiParameters([{ type: "bytes32" }, { type: "uint256" }, { type: "uint256" }], [mandateId, period, slot]));

const word = (value: bigint | Hex): Hex => (typeof value === "bigint" ? toHex(value, { size: 32 }) : pad(value, { size: 32 }));

/** Makes a proof: the account's signature (ERC-1271) for one transfer, made with the key of the policy signer. */
export async function prove(
  signerKey: Hex,
  slot: Slot,
  transfer: Omit<Transfer, "nonce"> & { readonly nonce?: Hex },
  token: Address = usdcAddress,
): Promise<{ readonly transfer: Transfer; readonly signature: Hex; readonly digest: Hex }> {
  const whole = { nonce: slotNonce(slot), ...transfer };
  const digest = transferDigest(whole, token);
  const { r, s, v } = parseSignature(await sign({ hash: digest, privateKey: signerKey, to: "hex" }));
  const signature = concat([
    slot.mandateId,
    word(token),
    word(whole.to),
    word(whole.value),
    word(whole.validAfter),
    word(whole.validBefore),
    word(slot.period),
    word(slot.slot),
    r,
    s,
    word(v ?? 27n),
  ]);
  return { transfer: whole, signature, digest };
}

export type ModulePayment = {
  readonly account: Address;
  readonly mandateId: Hex;
  readonly paymentId: Hex;
  readonly token: Address;
  readonly payee: Address;
  readonly value: bigint;
  readonly deadline: bigint;
};

export const signPayment = (paymentModule: Address, signer: PrivateKeyAccount, message: ModulePayment): Promise<Hex> =>
  signer.signTypedData({
    domain: { name: "PaymentModule", version: "1", chainId: CHAIN_ID, verifyingContract: paymentModule },
    types: payTypes,
    primaryType: "Pay",
    message,
  });

export const paymentArgs = (payment: ModulePayment, signature: Hex): readonly unknown[] => [
  payment.account,
  payment.mandateId,
  payment.paymentId,
  payment.token,
  payment.payee,
  payment.value,
  payment.deadline,
  signature,
];

export const transferArgs = (transfer: Transfer, signature: Hex): readonly unknown[] => [
  transfer.from,
  transfer.to,
  transfer.value,
  transfer.validAfter,
  transfer.validBefore,
  transfer.nonce,
  signature,
];
