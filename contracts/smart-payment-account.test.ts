import {
  concat,
  encodeFunctionData,
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
import { usdcAddress, useChain } from "../test/helpers/chain.ts";
import { mandateOnChain, revokeOnChain } from "../test/helpers/mandate-on-chain.ts";
import {
  MODULE,
  accountAbi,
  deployContracts,
  newKey,
  prove,
  randomBytes32,
  transferArgs,
  transferDigest,
  type Contracts,
  type Terms,
} from "../test/helpers/smart-account.ts";
import hostile from "./artifacts/HostileToken.json";
import usdc from "./artifacts/TestUSDC.json";

const usdcAbi = usdc.abi as Abi;
const chain = useChain();
let contracts: Contracts;

beforeAll(async () => {
  contracts = await deployContracts(chain());
});

const scene = (change: Partial<Terms> = {}) => mandateOnChain(chain(), contracts, change);
const revoke = (account: Address, mandateId: Hex) => revokeOnChain(chain(), contracts, account, mandateId);

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

describe("proofs", () => {
  test("a proof settles once, because the token accepts the nonce of its slot once", async () => {
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

  test("accepts up to its limits, to the last unit, and nothing above them", async () => {
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

  test("a proof is invalid for another account and for other data", async () => {
    const [one, other] = [await scene(), await scene()];
    const proof = await one.proof();
    expect(await one.accepted(proof, other.owner.address)).toBe(false);
    expect(await one.accepted({ ...proof, digest: transferDigest({ ...proof.transfer, value: 999n }) })).toBe(false);
    expect(await one.accepted({ ...proof, digest: hashMessage("Pay me") })).toBe(false);
    expect(await one.accepted({ ...proof, digest: randomBytes32() })).toBe(false);
  });

  test("a mandate that pays by the payment module accepts no proof, so there is one budget", async () => {
    const { proof, accepted } = await scene({ enforcementPath: MODULE });
    expect(await accepted(await proof())).toBe(false);
  });

  test("the domain of another token is not read", async () => {
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

  test("of random bytes, only a proof or the owner's signature is accepted, and nothing reverts", async () => {
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
      concat([honest.signature, "0x00"]),
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
  test("signs and pays independently of the mandates, and ends every proof by ending the delegation", async () => {
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
