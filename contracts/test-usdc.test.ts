import { parseSignature, toHex, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { transferTypes } from "#lib/onchain/token.ts";
import { usdcAddress, useChain } from "../test/helpers/chain.ts";
import { abi as artifactAbi } from "./artifacts/TestUSDC.json";

const abi = artifactAbi as readonly unknown[];
const chain = useChain();
const payer = privateKeyToAccount(generatePrivateKey());
const seller = privateKeyToAccount(generatePrivateKey());
const domain = { name: "USDC", version: "2", chainId: 84_532, verifyingContract: usdcAddress };
const randomNonce = (): Hex => toHex(crypto.getRandomValues(new Uint8Array(32)));

async function authorization(
  change: { readonly value?: bigint; readonly validAfter?: bigint; readonly validBefore?: bigint; readonly nonce?: Hex } = {},
) {
  const message = {
    from: payer.address,
    to: seller.address,
    value: 1000n,
    validAfter: 0n,
    validBefore: BigInt(2 ** 40),
    nonce: randomNonce(),
    ...change,
  };
  return {
    message,
    signature: await payer.signTypedData({ domain, types: transferTypes, primaryType: "TransferWithAuthorization", message }),
  };
}

type Signed = Awaited<ReturnType<typeof authorization>>;

function submit({ message, signature }: Signed, overload: "bytes" | "vrs"): Promise<void> {
  const { from, to, value, validAfter, validBefore, nonce } = message;
  const { v, r, s } = parseSignature(signature);
  const tail = overload === "bytes" ? [signature] : [Number(v), r, s];
  const args = [from, to, value, validAfter, validBefore, nonce, ...tail];
  return chain().mined(
    chain().client.writeContract({ address: usdcAddress, abi, functionName: "transferWithAuthorization", args }),
  );
}

const read = (functionName: string, args: readonly unknown[] = []): Promise<unknown> =>
  chain().client.readContract({ address: usdcAddress, abi, functionName, args });

beforeAll(() => chain().mint(payer.address, 1_000_000n));

describe("TestUSDC", () => {
  test("has the metadata and the EIP-712 domain of Circle's token at Circle's address", async () => {
    expect([await read("name"), await read("symbol"), await read("version"), await read("decimals")]).toEqual([
      "USDC",
      "USDC",
      "2",
      6,
    ]);
    // The value in Circle's own contract on Base Sepolia.
    expect(await read("DOMAIN_SEPARATOR")).toBe("0x71f17a3b2ff373b803d70a5a07c046c1a2bc8e89c09ef722fcb047abe94c9818");
  });

  test.each(["bytes", "vrs"] as const)("settles once through the %s overload and refuses a second call", async (overload) => {
    const signed = await authorization();
    const before = await chain().balanceOf(seller.address);
    await submit(signed, overload);
    expect(await chain().balanceOf(seller.address)).toBe(before + 1000n);
    expect(await read("authorizationState", [payer.address, signed.message.nonce])).toBe(true);
    await expect(submit(signed, overload)).rejects.toThrow("FiatTokenV2: authorization is used or canceled");
  });

  test("refuses with Circle's messages: expired, not yet valid, wrong signature, too little money", async () => {
    await expect(submit(await authorization({ validBefore: 1n }), "bytes")).rejects.toThrow(
      "FiatTokenV2: authorization is expired",
    );
    await expect(submit(await authorization({ validAfter: BigInt(2 ** 41) }), "bytes")).rejects.toThrow(
      "FiatTokenV2: authorization is not yet valid",
    );
    const signed = await authorization();
    await expect(submit({ ...signed, message: { ...signed.message, value: 999n } }, "vrs")).rejects.toThrow(
      "FiatTokenV2: invalid signature",
    );
    await expect(submit(await authorization({ value: 10n ** 12n }), "bytes")).rejects.toThrow(
      "ERC20: transfer amount exceeds balance",
    );
  });

  test("a canceled authorization counts as used and cannot settle", async () => {
    const signed = await authorization();
    const { nonce } = signed.message;
    const cancel = {
      CancelAuthorization: [
        { name: "authorizer", type: "address" },
        { name: "nonce", type: "bytes32" },
      ],
    } as const;
    const signature = await payer.signTypedData({
      domain,
      types: cancel,
      primaryType: "CancelAuthorization",
      message: { authorizer: payer.address, nonce },
    });
    const args = [payer.address, nonce, signature];
    await chain().mined(chain().client.writeContract({ address: usdcAddress, abi, functionName: "cancelAuthorization", args }));
    expect(await read("authorizationState", [payer.address, nonce])).toBe(true);
    await expect(submit(signed, "bytes")).rejects.toThrow("FiatTokenV2: authorization is used or canceled");
  });

  test("the signature of an account with code is checked only by ERC-1271, even if its key signed", async () => {
    const owner = privateKeyToAccount(generatePrivateKey());
    await chain().mint(owner.address, 10_000n);
    await chain().client.setCode({ address: owner.address, bytecode: "0x00" });
    const message = {
      from: owner.address,
      to: seller.address,
      value: 1000n,
      validAfter: 0n,
      validBefore: BigInt(2 ** 40),
      nonce: randomNonce(),
    };
    const signature = await owner.signTypedData({
      domain,
      types: transferTypes,
      primaryType: "TransferWithAuthorization",
      message,
    });
    await expect(submit({ message, signature }, "bytes")).rejects.toThrow("FiatTokenV2: invalid signature");
  });
});
