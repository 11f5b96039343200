import {
  concat,
  encodeFunctionData,
  getAddress,
  hashMessage,
  hexToBytes,
  parseSignature,
  toHex,
  type Abi,
  type Address,
  type Hex,
} from "viem";
import { sign } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { usdcAddress, useChain } from "../test/chain.ts";
import {
  MODULE,
  PROOFS,
  accountAbi,
  delegated,
  deployContracts,
  moduleAbi,
  newKey,
  paymentArgs,
  prove,
  randomBytes32,
  registrationArgs,
  registryAbi,
  signPayment,
  signRegistration,
  transferArgs,
  transferDigest,
  type Contracts,
  type ModulePayment,
  type Terms,
} from "../test/smart-account.ts";
import hostile from "./artifacts/HostileToken.json";
import usdc from "./artifacts/TestUSDC.json";

const usdcAbi = usdc.abi as Abi;
const MAGIC = "0x1626ba7e";
const chain = useChain();
let contracts: Contracts;

beforeAll(async () => {
  contracts = await deployContracts(chain());
});

const timeOfChain = async (): Promise<number> => Number((await chain().client.getBlock()).timestamp);

/** A delegated account with money and a mandate of three payments of 1,000 an hour. */
async function scene(change: Partial<Terms> = {}) {
  const owner = await delegated(chain(), contracts.implementation);
  await chain().mint(owner.address, 1_000_000n);
  const now = await timeOfChain();
  const terms: Terms = {
    account: owner.address,
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
  };
  const registration = await signRegistration(contracts.registry, owner, terms);
  await chain().mined(
    chain().client.writeContract({
      address: contracts.registry,
      abi: registryAbi,
      functionName: "registerMandate",
      args: registrationArgs(registration),
    }),
  );
  const { mandateId } = registration;
  const transfer = {
    from: owner.address as Address,
    to: terms.payee,
    value: 1_000n,
    validAfter: 0n,
    validBefore: BigInt(now + 600),
  };
  const proof = (
    { period = 0n, slot = 0n }: { period?: bigint; slot?: bigint } = {},
    changed: Partial<typeof transfer> & { nonce?: Hex } = {},
    key = contracts.policySigner.key,
  ) => prove(key, { mandateId, period, slot }, { ...transfer, ...changed });
  const accepted = async ({ digest, signature }: { digest: Hex; signature: Hex }, account: Address = owner.address) => {
    try {
      const answer = await chain().client.readContract({
        address: account,
        abi: accountAbi,
        functionName: "isValidSignature",
        args: [digest, signature],
      });
      return answer === MAGIC;
    } catch {
      return "reverted";
    }
  };
  return { owner, terms, mandateId, transfer, proof, accepted };
}

type Proof = Awaited<ReturnType<typeof prove>>;

const settle = ({ transfer, signature }: Proof): Promise<void> =>
  chain().mined(
    chain().client.writeContract({
      address: usdcAddress,
      abi: usdcAbi,
      functionName: "transferWithAuthorization",
      args: transferArgs(transfer, signature),
    }),
  );

const revoke = async (account: Address, mandateId: Hex): Promise<void> => {
  await chain().fund(contracts.guardian.address);
  await chain().mined(
    chain().client.writeContract({
      account: contracts.guardian,
      address: contracts.registry,
      abi: registryAbi,
      functionName: "revoke",
      args: [account, mandateId],
    }),
  );
};

describe("proofs", () => {
  test("a proof settles once; its slot is burnt by the token", async () => {
    const { terms, proof } = await scene();
    const first = await proof();
    await settle(first);
    expect(await chain().balanceOf(terms.payee)).toBe(1_000n);
    await expect(settle(first)).rejects.toThrow("authorization is used or canceled");
    await expect(settle(await proof({}, { value: 1n }))).rejects.toThrow("authorization is used or canceled");
    await settle(await proof({ slot: 1n }));
    await settle(await proof({ slot: 2n }));
    await expect(settle(await proof({ slot: 3n }))).rejects.toThrow("invalid signature");
    expect(await chain().balanceOf(terms.payee)).toBe(terms.periodLimit);
  });

  test("accepts its limits to the last unit and nothing beyond them", async () => {
    const { owner, terms, mandateId, transfer, proof, accepted } = await scene();
    expect(await accepted(await proof())).toBe(true);
    const end = BigInt(terms.end);
    expect(await accepted(await proof({}, { validBefore: end }))).toBe(true);
    const refused: Record<string, Proof> = {
      "a value above the limit": await proof({}, { value: 1_001n }),
      "a value of zero": await proof({}, { value: 0n }),
      "another payee": await proof({}, { to: newKey().address }),
      "a slot out of range": await proof({ slot: 3n }),
      "a period that is over or to come": await proof({ period: 1n }),
      "a nonce that is no slot": await proof({}, { nonce: randomBytes32() }),
      "another key than the policy signer's": await proof({}, {}, newKey().key),
      "a proof by the owner's own key": await proof({}, {}, owner.key),
      "an authorization that outlives the mandate": await proof({}, { validBefore: end + 1n }),
      "another mandate": await prove(
        contracts.policySigner.key,
        { mandateId: randomBytes32(), period: 0n, slot: 0n },
        { ...transfer },
      ),
    };
    for (const [what, one] of Object.entries(refused)) expect(await accepted(one), what).toBe(false);
    await revoke(owner.address, mandateId);
    expect(await accepted(await proof()), "a revoked mandate").toBe(false);
  });

  test("a proof for one account is none for another, and none for other words", async () => {
    const [one, other] = [await scene(), await scene()];
    const proof = await one.proof();
    expect(await one.accepted(proof, other.owner.address)).toBe(false);
    expect(await one.accepted({ ...proof, digest: transferDigest({ ...proof.transfer, value: 999n }) })).toBe(false);
    expect(await one.accepted({ ...proof, digest: hashMessage("Pay me") })).toBe(false);
    expect(await one.accepted({ ...proof, digest: randomBytes32() })).toBe(false);
  });

  test("a mandate that the module pays takes no proof: there is one budget", async () => {
    const { proof, accepted } = await scene({ enforcementPath: MODULE });
    expect(await accepted(await proof())).toBe(false);
  });

  test("another token is not even asked for its domain", async () => {
    const { mandateId, transfer, accepted } = await scene();
    const hash = await chain().client.deployContract({ abi: hostile.abi as Abi, bytecode: hostile.bytecode as Hex });
    const { contractAddress } = await chain().client.waitForTransactionReceipt({ hash });
    const domain = await chain().client.readContract({ address: usdcAddress, abi: usdcAbi, functionName: "DOMAIN_SEPARATOR" });
    await chain().mined(
      chain().client.writeContract({
        address: contractAddress!,
        abi: hostile.abi as Abi,
        functionName: "answer",
        args: [domain],
      }),
    );
    const slot = { mandateId, period: 0n, slot: 0n };
    const honest = await prove(contracts.policySigner.key, slot, transfer);
    const words = hexToBytes(honest.signature);
    words.set(hexToBytes(contractAddress!), 32 + 12);
    expect(await accepted({ digest: honest.digest, signature: toHex(words) })).toBe(false);
  });

  test("whatever bytes come as a signature, only a proof or the owner's key is accepted, and nothing reverts", async () => {
    const { owner, proof, accepted } = await scene();
    const honest = await proof();
    const owned = await sign({ hash: honest.digest, privateKey: owner.key, to: "hex" });
    const { r, s, yParity } = parseSignature(owned);
    const compact = concat([r, toHex(BigInt(s) | (BigInt(yParity) << 255n), { size: 32 })]);
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
    const flipped = concat([r, toHex(order - BigInt(s), { size: 32 }), toHex(28 - yParity, { size: 1 })]);
    const dirty = hexToBytes(honest.signature);
    dirty[32] = 1;
    const dirtyV = hexToBytes(honest.signature);
    dirtyV[351 - 1] = 1;
    const garbage: Hex[] = [
      "0x",
      "0x00",
      compact,
      flipped,
      toHex(dirty),
      toHex(dirtyV),
      `${honest.signature}00`,
      honest.signature.slice(0, -2) as Hex,
      toHex(crypto.getRandomValues(new Uint8Array(352))),
      toHex(crypto.getRandomValues(new Uint8Array(65))),
      toHex(new Uint8Array(352)),
    ];
    for (const signature of garbage) expect(await accepted({ digest: honest.digest, signature }), signature).toBe(false);
    expect(await accepted({ digest: honest.digest, signature: owned })).toBe(true);
  });
});

describe("the owner", () => {
  test("signs and pays whatever the mandates say, and ends every proof by ending the delegation", async () => {
    const { owner, proof, transfer } = await scene();
    const own = { ...transfer, to: newKey().address, value: 500_000n, nonce: randomBytes32() };
    const signature = await sign({ hash: transferDigest(own), privateKey: owner.key, to: "hex" });
    await settle({ transfer: own, signature, digest: transferDigest(own) });
    expect(await chain().balanceOf(own.to)).toBe(500_000n);
    const call = encodeFunctionData({ abi: usdcAbi, functionName: "transfer", args: [own.to, 1_000n] });
    await chain().mined(
      chain().client.writeContract({
        account: owner,
        address: owner.address,
        abi: accountAbi,
        functionName: "execute",
        args: [usdcAddress, 0n, call],
      }),
    );
    expect(await chain().balanceOf(own.to)).toBe(501_000n);
    await expect(
      chain().client.simulateContract({
        account: newKey(),
        address: owner.address,
        abi: accountAbi,
        functionName: "execute",
        args: [usdcAddress, 0n, call],
      }),
    ).rejects.toThrow("NotAllowed");
    const ended = await owner.signAuthorization({
      address: "0x0000000000000000000000000000000000000000",
      chainId: 84_532,
      nonce: await chain().client.getTransactionCount({ address: owner.address }),
    });
    await chain().mined(chain().client.sendTransaction({ to: owner.address, authorizationList: [ended] }));
    await expect(settle(await proof())).rejects.toThrow("invalid signature");
  });
});

describe("the module", () => {
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
    const args = paymentArgs(one, await signPayment(contracts.module, signer, signed));
    await chain().mined(chain().client.writeContract({ address: contracts.module, abi: moduleAbi, functionName: "pay", args }));
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

  test("refuses every field that differs, another signer, a passed deadline, and mandates of proofs", async () => {
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

  test("only the module may make an account pay, and only an account may use up its own mandate", async () => {
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

  test("a token that calls back finds its payment used, and one that answers nothing is paid", async () => {
    const hash = await chain().client.deployContract({ abi: hostile.abi as Abi, bytecode: hostile.bytecode as Hex });
    const { contractAddress } = await chain().client.waitForTransactionReceipt({ hash });
    const at = await moduleScene({ token: getAddress(contractAddress!) });
    const again = payment(at);
    const call = encodeFunctionData({
      abi: moduleAbi,
      functionName: "pay",
      args: paymentArgs(again, await signPayment(contracts.module, contracts.policySigner, again)),
    });
    const token = { address: contractAddress!, abi: hostile.abi as Abi } as const;
    await chain().mined(chain().client.writeContract({ ...token, functionName: "callBack", args: [contracts.module, call] }));
    await pay(again);
    expect(await chain().client.readContract({ ...token, functionName: "transfers" })).toBe(1n);
    expect(await chain().client.readContract({ ...token, functionName: "lastCallDone" })).toBe(false);
  });
});
