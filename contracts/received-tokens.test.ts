import { encodeFunctionData, getAddress, parseEther, toFunctionSelector, type Abi, type Address, type Hex } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { useChain } from "../test/helpers/chain.ts";
import { mandateOnChain } from "../test/helpers/mandate-on-chain.ts";
import { accountAbi, delegated, deployContracts, newKey, type Contracts } from "../test/helpers/smart-account.ts";
import erc1155 from "./artifacts/TestERC1155.json";
import erc721 from "./artifacts/TestERC721.json";

const abi721 = erc721.abi as Abi;
const abi1155 = erc1155.abi as Abi;
const chain = useChain();
let contracts: Contracts;
let collectibles: Address;
let kinds: Address;

async function deploy(artifact: { readonly abi: unknown; readonly bytecode: string }): Promise<Address> {
  const hash = await chain().client.deployContract({ abi: artifact.abi as Abi, bytecode: artifact.bytecode as Hex, args: [] });
  const { contractAddress } = await chain().client.waitForTransactionReceipt({ hash });
  return getAddress(contractAddress!);
}

beforeAll(async () => {
  contracts = await deployContracts(chain());
  [collectibles, kinds] = [await deploy(erc721), await deploy(erc1155)];
});

type Key = ReturnType<typeof newKey>;

async function funded(): Promise<Key> {
  const key = newKey();
  await chain().fund(key.address);
  return key;
}

const write = (account: Key, address: Address, abi: Abi, functionName: string, args: readonly unknown[]): Promise<void> =>
  chain().mined(chain().client.writeContract({ account, address, abi, functionName, args }));

const ownerOf = (tokenId: bigint) =>
  chain().client.readContract({ address: collectibles, abi: abi721, functionName: "ownerOf", args: [tokenId] });
const held = (owner: Address, id: bigint) =>
  chain().client.readContract({ address: kinds, abi: abi1155, functionName: "balanceOf", args: [owner, id] });
const supports = (account: Address, interfaceId: Hex) =>
  chain().client.readContract({ address: account, abi: accountAbi, functionName: "supportsInterface", args: [interfaceId] });

describe("a delegated wallet", () => {
  test("receives an ERC-721 token that is minted or sent to it, and its owner can send it", async () => {
    const wallet = await delegated(chain(), contracts.implementation);
    const other = await funded();
    await write(other, collectibles, abi721, "safeMint", [wallet.address, 1n]);
    await write(other, collectibles, abi721, "safeMint", [other.address, 2n]);
    await write(other, collectibles, abi721, "safeTransferFrom", [other.address, wallet.address, 2n]);
    await write(other, collectibles, abi721, "safeMint", [other.address, 3n]);
    await write(other, collectibles, abi721, "safeTransferFrom", [other.address, wallet.address, 3n, "0x1234"]);
    expect(await Promise.all([1n, 2n, 3n].map(ownerOf))).toEqual(Array.from({ length: 3 }, () => wallet.address));
    await write(wallet, collectibles, abi721, "safeTransferFrom", [wallet.address, other.address, 1n]);
    const data = encodeFunctionData({ abi: abi721, functionName: "transferFrom", args: [wallet.address, other.address, 2n] });
    await write(wallet, wallet.address, accountAbi, "execute", [collectibles, 0n, data]);
    expect(await Promise.all([1n, 2n].map(ownerOf))).toEqual([other.address, other.address]);
  });

  test("receives ERC-1155 tokens one kind at a time and many at once, and its owner can send them", async () => {
    const wallet = await delegated(chain(), contracts.implementation);
    const other = await funded();
    await write(other, kinds, abi1155, "mint", [wallet.address, 1n, 5n]);
    await write(other, kinds, abi1155, "mintBatch", [wallet.address, [2n, 3n], [7n, 9n]]);
    await write(other, kinds, abi1155, "mintBatch", [other.address, [1n, 2n], [1n, 1n]]);
    await write(other, kinds, abi1155, "safeTransferFrom", [other.address, wallet.address, 1n, 1n, "0x"]);
    await write(other, kinds, abi1155, "safeBatchTransferFrom", [other.address, wallet.address, [2n], [1n], "0x"]);
    expect(await Promise.all([1n, 2n, 3n].map((id) => held(wallet.address, id)))).toEqual([6n, 8n, 9n]);
    await write(wallet, kinds, abi1155, "safeTransferFrom", [wallet.address, other.address, 3n, 9n, "0x"]);
    expect(await held(other.address, 3n)).toBe(9n);
  });

  test("receives ether as before", async () => {
    const wallet = await delegated(chain(), contracts.implementation);
    const before = await chain().client.getBalance({ address: wallet.address });
    await chain().mined(chain().client.sendTransaction({ to: wallet.address, value: parseEther("1") }));
    expect((await chain().client.getBalance({ address: wallet.address })) - before).toBe(parseEther("1"));
  });

  test("reports by ERC-165 exactly what it receives", async () => {
    const { address } = await delegated(chain(), contracts.implementation);
    const receiver721 = toFunctionSelector("onERC721Received(address,address,uint256,bytes)");
    expect(await Promise.all((["0x01ffc9a7", "0x4e2312e0", receiver721] as const).map((id) => supports(address, id)))).toEqual([
      true,
      true,
      true,
    ]);
    expect(await Promise.all((["0xffffffff", "0x80ac58cd", "0xd9b67a26"] as const).map((id) => supports(address, id)))).toEqual([
      false,
      false,
      false,
    ]);
  });

  test("pays within its mandate as before, and received tokens give nobody a right over it", async () => {
    const { owner, proof, accepted } = await mandateOnChain(chain(), contracts);
    const other = await funded();
    await write(other, collectibles, abi721, "safeMint", [owner.address, 10n]);
    expect(await accepted(await proof())).toBe(true);
    const take = write(other, collectibles, abi721, "transferFrom", [owner.address, other.address, 10n]);
    await expect(take).rejects.toThrow("ERC721InsufficientApproval");
    const data = encodeFunctionData({ abi: abi721, functionName: "approve", args: [other.address, 10n] });
    await expect(write(other, owner.address, accountAbi, "execute", [collectibles, 0n, data])).rejects.toThrow("NotAllowed");
  });
});
