import { getAddress, type Hex } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { usdcAddress, useChain } from "../test/helpers/chain.ts";
import {
  MODULE,
  delegated,
  deployContracts,
  newKey,
  randomBytes32,
  randomNonce,
  registrationArgs,
  registryAbi,
  signRegistration,
  signRevocation,
  termsOf,
  type Contracts,
  type Registration,
  type Terms,
} from "../test/helpers/smart-account.ts";

const chain = useChain();
let contracts: Contracts;
let now = 0;

beforeAll(async () => {
  contracts = await deployContracts(chain());
  now = Number((await chain().client.getBlock()).timestamp);
});

const terms = (account: Hex, change: Partial<Terms> = {}): Terms => termsOf(account, now, change);

const write = (functionName: string, args: readonly unknown[]): Promise<void> =>
  chain().mined(chain().client.writeContract({ address: contracts.registry, abi: registryAbi, functionName, args }));

const writeAs = async (sender: ReturnType<typeof newKey>, functionName: string, args: readonly unknown[]): Promise<void> => {
  await chain().fund(sender.address);
  await chain().mined(
    chain().client.writeContract({ account: sender, address: contracts.registry, abi: registryAbi, functionName, args }),
  );
};

const read = (functionName: string, args: readonly unknown[]): Promise<unknown> =>
  chain().client.readContract({ address: contracts.registry, abi: registryAbi, functionName, args });

const register = (registration: Registration): Promise<void> => write("registerMandate", registrationArgs(registration));

describe("registerMandate", () => {
  test("stores what a plain account signed, for any submitter", async () => {
    const owner = newKey();
    const registration = await signRegistration(contracts.registry, owner, terms(owner.address));
    await register(registration);
    expect(await read("termsOf", [owner.address, registration.mandateId])).toEqual({
      ...registration.terms,
      account: getAddress(owner.address),
    });
    expect(await read("nonceUsed", [owner.address, registration.nonce])).toBe(true);
  });

  test("stores what the key of a delegated account signed", async () => {
    const owner = await delegated(chain(), contracts.implementation);
    await register(await signRegistration(contracts.registry, owner, terms(owner.address, { enforcementPath: MODULE })));
  });

  test("refuses another signer, another chain, another registry, and any field that was changed", async () => {
    const owner = newKey();
    const own = terms(owner.address);
    await expect(register(await signRegistration(contracts.registry, newKey(), own))).rejects.toThrow("InvalidSignature");
    await expect(register(await signRegistration(contracts.registry, owner, own, { chainId: 1 }))).rejects.toThrow(
      "InvalidSignature",
    );
    await expect(register(await signRegistration(contracts.paymentModule, owner, own))).rejects.toThrow("InvalidSignature");
    const signed = await signRegistration(contracts.registry, owner, own);
    const changes: Partial<Terms>[] = [
      { payee: newKey().address },
      { token: newKey().address },
      { perPaymentLimit: 999n },
      { periodLimit: 3_001n },
      { periodSeconds: 3_599 },
      { start: own.start - 1 },
      { end: own.end + 1 },
      { maxPaymentsPerPeriod: 2 },
      { enforcementPath: MODULE },
      { termsHash: randomBytes32() },
    ];
    for (const change of changes)
      await expect(register({ ...signed, terms: { ...own, ...change } }), Object.keys(change)[0]).rejects.toThrow(
        "InvalidSignature",
      );
    await expect(register({ ...signed, mandateId: randomBytes32() })).rejects.toThrow("InvalidSignature");
    await expect(register({ ...signed, nonce: signed.nonce + 1n })).rejects.toThrow("InvalidSignature");
    await expect(register({ ...signed, deadline: signed.deadline + 1n })).rejects.toThrow("InvalidSignature");
    await register(signed);
  });

  test("refuses a passed deadline, a used nonce and a registered id", async () => {
    const owner = newKey();
    const own = terms(owner.address);
    await expect(register(await signRegistration(contracts.registry, owner, own, { deadline: BigInt(now - 1) }))).rejects.toThrow(
      "DeadlinePassed",
    );
    const first = await signRegistration(contracts.registry, owner, own);
    await register(first);
    await expect(register(first)).rejects.toThrow("AlreadyRegistered");
    await expect(register(await signRegistration(contracts.registry, owner, own, { nonce: first.nonce }))).rejects.toThrow(
      "NonceUsed",
    );
    await expect(
      register(await signRegistration(contracts.registry, owner, own, { mandateId: first.mandateId })),
    ).rejects.toThrow("AlreadyRegistered");
  });

  test("nobody can register another account's id", async () => {
    const [owner, other] = [newKey(), newKey()];
    const mandateId = randomBytes32();
    await register(await signRegistration(contracts.registry, other, terms(other.address), { mandateId }));
    await register(await signRegistration(contracts.registry, owner, terms(owner.address), { mandateId }));
  });

  test.each<[string, Partial<Terms>]>([
    ["no payee", { payee: "0x0000000000000000000000000000000000000000" }],
    ["no token", { token: "0x0000000000000000000000000000000000000000" }],
    ["a limit of zero", { perPaymentLimit: 0n }],
    ["a period of zero", { periodSeconds: 0 }],
    ["no payments", { maxPaymentsPerPeriod: 0 }],
    ["an end before its start", { start: 20, end: 20 }],
    ["no path", { enforcementPath: 0 }],
    ["two paths", { enforcementPath: 3 }],
    ["slots that pass the period's limit", { periodLimit: 2_999n }],
    [
      "slots that overflow",
      { perPaymentLimit: 2n ** 128n - 1n, periodLimit: 2n ** 128n - 1n, maxPaymentsPerPeriod: 2 ** 32 - 1 },
    ],
  ])("refuses %s", async (_, change) => {
    const owner = newKey();
    await expect(register(await signRegistration(contracts.registry, owner, terms(owner.address, change)))).rejects.toThrow(
      "InvalidTerms",
    );
  });
});

describe("revoke", () => {
  const registered = async () => {
    const owner = newKey();
    const registration = await signRegistration(contracts.registry, owner, terms(owner.address));
    await register(registration);
    return { owner, mandateId: registration.mandateId, payee: registration.terms.payee };
  };
  const refusalOf = ({ owner, mandateId, payee }: Awaited<ReturnType<typeof registered>>) =>
    read("checkProof", [owner.address, mandateId, usdcAddress, payee, 1n, BigInt(now + 60), 0n, 0n]);

  test("works for the account, the guardian and a signature, and for nobody else", async () => {
    const [own, guarded, signed, kept] = [await registered(), await registered(), await registered(), await registered()];
    await writeAs(own.owner, "revoke", [own.owner.address, own.mandateId]);
    await writeAs(contracts.guardian, "revoke", [guarded.owner.address, guarded.mandateId]);
    const nonce = randomNonce();
    const signature = await signRevocation(contracts.registry, signed.owner, signed.mandateId, nonce);
    const args = [signed.owner.address, signed.mandateId, nonce, 2n ** 40n, signature];
    await write("revokeWithSignature", args);
    await expect(write("revokeWithSignature", args)).rejects.toThrow("NonceUsed");
    for (const stranger of [newKey(), contracts.administrator, contracts.policySigner])
      await expect(writeAs(stranger, "revoke", [kept.owner.address, kept.mandateId])).rejects.toThrow("NotAllowed");
    expect(await Promise.all([own, guarded, signed, kept].map(refusalOf))).toEqual([2, 2, 2, 0]);
  });

  test("revokes an id for ever, also one that is not registered yet", async () => {
    const owner = newKey();
    const registration = await signRegistration(contracts.registry, owner, terms(owner.address));
    await writeAs(contracts.guardian, "revoke", [owner.address, registration.mandateId]);
    await expect(register(registration)).rejects.toThrow("AlreadyRegistered");
  });
});

describe("the policy signer", () => {
  test("changes in two steps: the administrator proposes a key, and the new key accepts", async () => {
    const own = await deployContracts(chain());
    const next = newKey();
    const as = async (sender: ReturnType<typeof newKey>, functionName: string, args: readonly unknown[] = []) => {
      await chain().fund(sender.address);
      await chain().mined(
        chain().client.writeContract({ account: sender, address: own.registry, abi: registryAbi, functionName, args }),
      );
    };
    for (const stranger of [own.guardian, own.policySigner, next])
      await expect(as(stranger, "proposePolicySigner", [next.address])).rejects.toThrow("NotAllowed");
    await as(own.administrator, "proposePolicySigner", [next.address]);
    await expect(as(own.administrator, "acceptPolicySigner")).rejects.toThrow("NotAllowed");
    const signer = () => chain().client.readContract({ address: own.registry, abi: registryAbi, functionName: "policySigner" });
    expect(await signer()).toBe(own.policySigner.address);
    await as(next, "acceptPolicySigner");
    expect(await signer()).toBe(next.address);
    await expect(as(next, "acceptPolicySigner")).rejects.toThrow("NotAllowed");
  });
});
