import { encodeFunctionData, getAddress, type Abi, type Address, type Hex } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { useChain } from "../test/helpers/chain.ts";
import { mandateOnChain, revokeOnChain } from "../test/helpers/mandate-on-chain.ts";
import {
  MODULE,
  accountAbi,
  deployContracts,
  moduleAbi,
  newKey,
  paymentArgs,
  randomBytes32,
  registryAbi,
  signPayment,
  type Contracts,
  type ModulePayment,
  type Terms,
} from "../test/helpers/smart-account.ts";
import hostile from "./artifacts/HostileToken.json";

const chain = useChain();
let contracts: Contracts;

beforeAll(async () => {
  contracts = await deployContracts(chain());
});

const scene = (change: Partial<Terms> = {}) => mandateOnChain(chain(), contracts, change);
const revoke = (account: Address, mandateId: Hex) => revokeOnChain(chain(), contracts, account, mandateId);

describe("the payment module", () => {
  const moduleScene = (change: Partial<Terms> = {}) => scene({ enforcementPath: MODULE, ...change });
  type Scene = Awaited<ReturnType<typeof moduleScene>>;

  const payment = ({ owner, terms, mandateId }: Scene, change: Partial<ModulePayment> = {}): ModulePayment => ({
    account: owner.address,
    mandateId,
    paymentId: randomBytes32(),
    token: terms.token,
    payee: terms.payee,
    value: 1_000n,
    deadline: 2n ** 40n,
    ...change,
  });

  async function pay(one: ModulePayment, signer = contracts.policySigner, signed = one): Promise<void> {
    const args = paymentArgs(one, await signPayment(contracts.paymentModule, signer, signed));
    await chain().mined(
      chain().client.writeContract({ address: contracts.paymentModule, abi: moduleAbi, functionName: "pay", args }),
    );
  }

  test("pays what the policy signer signed, once for each payment id, up to the limits of the period", async () => {
    const at = await moduleScene();
    const first = payment(at);
    await pay(first);
    await expect(pay(first)).rejects.toThrow();
    await pay(payment(at));
    await pay(payment(at));
    await expect(pay(payment(at, { value: 1n }))).rejects.toThrow();
    expect(await chain().balanceOf(at.terms.payee)).toBe(at.terms.periodLimit);
    const usage = await chain().client.readContract({
      address: contracts.registry,
      abi: registryAbi,
      functionName: "usageOf",
      args: [at.owner.address, at.mandateId],
    });
    expect(usage).toEqual({ period: 0, payments: 3, spent: 3_000n });
  });

  test("refuses every differing field, another signer, a passed deadline, and mandates that pay by proofs", async () => {
    const at = await moduleScene();
    const honest = payment(at);
    await expect(pay(honest, newKey())).rejects.toThrow("InvalidSignature");
    await expect(pay(honest, at.owner)).rejects.toThrow("InvalidSignature");
    await expect(pay({ ...honest, value: 1n }, contracts.policySigner, honest)).rejects.toThrow("InvalidSignature");
    await expect(pay(payment(at, { deadline: 1n }))).rejects.toThrow("DeadlinePassed");
    await expect(pay(payment(at, { payee: newKey().address }))).rejects.toThrow();
    await expect(pay(payment(at, { value: 1_001n }))).rejects.toThrow();
    await expect(pay(payment(at, { mandateId: randomBytes32() }))).rejects.toThrow();
    await expect(pay(payment(await scene()))).rejects.toThrow();
    await revoke(at.owner.address, at.mandateId);
    await expect(pay(honest)).rejects.toThrow();
    expect(await chain().balanceOf(at.terms.payee)).toBe(0n);
  });

  test("only the payment module can make an account pay, and only an account can use its own mandates", async () => {
    const at = await moduleScene();
    const { mandateId, paymentId, token, payee, value } = payment(at);
    const args = [mandateId, paymentId, token, payee, value];
    await expect(
      chain().client.simulateContract({ address: at.owner.address, abi: accountAbi, functionName: "pay", args }),
    ).rejects.toThrow("NotAllowed");
    await expect(
      chain().client.simulateContract({ address: contracts.registry, abi: registryAbi, functionName: "consume", args }),
    ).rejects.toThrow("Refused");
  });

  test("a token that calls back finds its payment used, and a token without a return value is paid", async () => {
    const hash = await chain().client.deployContract({ abi: hostile.abi as Abi, bytecode: hostile.bytecode as Hex });
    const { contractAddress } = await chain().client.waitForTransactionReceipt({ hash });
    const at = await moduleScene({ token: getAddress(contractAddress!) });
    const again = payment(at);
    const call = encodeFunctionData({
      abi: moduleAbi,
      functionName: "pay",
      args: paymentArgs(again, await signPayment(contracts.paymentModule, contracts.policySigner, again)),
    });
    const token = { address: contractAddress!, abi: hostile.abi as Abi } as const;
    await chain().mined(
      chain().client.writeContract({ ...token, functionName: "callBack", args: [contracts.paymentModule, call] }),
    );
    await pay(again);
    expect(await chain().client.readContract({ ...token, functionName: "transfers" })).toBe(1n);
    expect(await chain().client.readContract({ ...token, functionName: "lastCallDone" })).toBe(false);
  });
});
