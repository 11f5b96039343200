import { createPublicClient, http, parseAbi, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { env } from "#lib/env.ts";
import { call } from "#lib/http/client.ts";
import { activateMandate, createMandate } from "#lib/mandates/contract.ts";
import { newOrganization, type Owner } from "#test/identity.ts";
import { localChainId } from "../examples/chain.ts";
import { expect, expectAccessible, signInAs, test } from "./setup/journey.ts";
import { injectWallet } from "./setup/wallet.ts";

const chain = () => createPublicClient({ transport: http(env().CHAINS[0]?.rpcUrl) });
const registry = () => env().CHAINS[0]?.contracts?.mandateRegistry as Hex;

/** Creates a mandate of 1 USDC per payment and 5 per day that pays from this wallet. */
async function writeMandate({ credential }: Owner, address: string): Promise<string> {
  const as = { baseUrl: env().BASE_URL, headers: credential };
  const policy = {
    assets: [{ asset: "USDC", chain: localChainId }],
    limits: { perPayment: "1", budgets: [{ period: "day" as const, timezone: "UTC", amount: "5" }] },
  };
  const body = { name: "Weather data", policy, wallet: { chain: localChainId, address } };
  const { mandateId } = await call(createMandate, { body }, as);
  await call(activateMandate, { id: mandateId }, as);
  return mandateId;
}

/** Simulates a wallet. It signs typed data and, with `delegations`, also an EIP-7702 authorization. */
const walletOf =
  (account: PrivateKeyAccount, offers: { delegations: boolean }) => async (method: string, params: readonly unknown[]) => {
    if (method === "eth_requestAccounts") return { result: [account.address.toLowerCase()] };
    if (method === "eth_chainId") return { result: "0x14a34" };
    if (method === "eth_signTypedData_v4")
      return {
        result: await account.signTypedData(JSON.parse(params[1] as string) as Parameters<typeof account.signTypedData>[0]),
      };
    if (method !== "wallet_signAuthorization" || !offers.delegations) return { code: -32_601 };
    const { address, chainId, nonce } = params[0] as { address: Hex; chainId: Hex; nonce: Hex };
    const { r, s, yParity } = await account.signAuthorization({ address, chainId: Number(chainId), nonce: Number(nonce) });
    return { result: { r, s, yParity } };
  };

test("a buyer reads the limits to sign, delegates and registers; revoking the mandate revokes the registration on the chain", async ({
  page,
  context,
}) => {
  const buyer = await newOrganization();
  const account = privateKeyToAccount(generatePrivateKey());
  const offers = { delegations: false };
  const mandateId = await writeMandate(buyer, account.address);
  const payee = privateKeyToAccount(generatePrivateKey()).address;
  await injectWallet(page, walletOf(account, offers));
  await signInAs(context, buyer.credential);
  await page.goto(`/mandates/${mandateId}`);
  const panel = page.getByRole("region", { name: "On chain" });
  await panel.getByLabel("Address that may be paid").fill(payee);
  await expectAccessible(page);
  await panel.getByRole("button", { name: "See what you sign" }).click();
  await expect(panel).toContainText("at most 5.00 USDC and 5 payments a day");
  await panel.getByRole("button", { name: "Delegate and register" }).click();
  await expect(panel.getByText("This wallet does not sign delegations for pages")).toBeVisible();
  await expectAccessible(page);
  await panel.getByRole("button", { name: "Back" }).click();
  offers.delegations = true;
  await panel.getByLabel("Address that may be paid").fill(payee);
  await expectAccessible(page);
  await panel.getByRole("button", { name: "See what you sign" }).click();
  await panel.getByRole("button", { name: "Delegate and register" }).click();
  await expect(panel.getByText("Registered", { exact: true })).toBeVisible({ timeout: 20_000 });
  await expect(panel).toContainText("0 of 5 payments");
  await expect(panel).not.toContainText("does not delegate");
  expect(await chain().getCode({ address: account.address })).toMatch(/^0xef0100/);
  await expectAccessible(page);

  await page.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("The project is over.");
  await page.getByRole("button", { name: "Revoke mandate" }).click();
  await expect(panel.getByText("It is closed on the chain permanently.")).toBeVisible({ timeout: 20_000 });
  const id = await panel
    .getByTitle(/^0x[0-9a-f]{64}$/)
    .last()
    .getAttribute("title");
  const abi = parseAbi(["function revoked(address account, bytes32 mandateId) view returns (bool)"]);
  const args = [account.address, id as Hex] as const;
  expect(await chain().readContract({ address: registry(), abi, functionName: "revoked", args })).toBe(true);
  await expectAccessible(page);
});
