import { describe, expect, test } from "vitest";
import type { Address } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createSiweMessage, type SiweMessage } from "viem/siwe";
import { database, pool } from "#lib/db/client.ts";
import * as contract from "#lib/identity/sessions/contract.ts";
import { getSession } from "#lib/identity/sessions/get-session.ts";
import { siweStatement } from "#lib/identity/sessions/siwe-statement.ts";
import { walletAddress } from "#lib/identity/tables.ts";
import { useDatabase } from "#test/database.ts";
import { callAuth, credentialOf } from "#test/identity.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const newWallet = () => privateKeyToAccount(generatePrivateKey());
const nonce = async (): Promise<string> => ((await (await callAuth("/siwe/nonce", {})).json()) as { nonce: string }).nonce;

async function messageOf(wallet: { address: Address }, changes: Partial<SiweMessage> = {}): Promise<string> {
  return createSiweMessage({
    address: wallet.address,
    chainId: 84_532,
    domain: "localhost:3000",
    uri: "http://localhost:3000",
    version: "1",
    statement: siweStatement,
    nonce: await nonce(),
    issuedAt: new Date(),
    ...changes,
  });
}
const verify = (message: string, signature: string) => callAuth("/siwe/verify", { message, signature });

async function enter(wallet = newWallet(), changes: Partial<SiweMessage> = {}, signer = wallet) {
  const message = await messageOf(wallet, changes);
  return verify(message, await signer.signMessage({ message }));
}
const sessionOf = async (response: Response) =>
  (await send(contract.getSession, getSession, { as: credentialOf(response) })).data.session;

describe("signing in with a wallet", () => {
  test("the same wallet signs in to the same account, and the session names the method", async () => {
    const wallet = newWallet();
    const first = await sessionOf(await enter(wallet));
    expect(first).toMatchObject({ provider: "wallet", user: { emailVerified: false } });
    expect(first.user.name).toBe(`${wallet.address.slice(0, 6)}…${wallet.address.slice(-4)}`);
    expect(first.user).not.toHaveProperty("image");
    expect((await sessionOf(await enter(wallet))).user.userId).toBe(first.user.userId);
    expect((await sessionOf(await enter())).user.userId).not.toBe(first.user.userId);
  });

  test("401 for another chain, site, URL, statement, time or form of the message", async () => {
    const changes: Partial<SiweMessage>[] = [
      { chainId: 1 },
      { domain: "evil.example" },
      { uri: "https://evil.example" },
      { uri: "http://localhost:3000/elsewhere" },
      { statement: "I give everything away." },
      { resources: ["https://evil.example"] },
      { requestId: "1" },
      { notBefore: new Date(Date.now() + 60_000) },
      { expirationTime: new Date(Date.now() - 1_000) },
      { nonce: "0123456789abcdef0123456789abcdef" },
    ];
    for (const change of changes) expect([change, (await enter(newWallet(), change)).status]).toEqual([change, 401]);
    const wallet = newWallet();
    const twice = `${await messageOf(wallet, { uri: "https://evil.example" })}\nURI: http://localhost:3000`;
    expect((await verify(twice, await wallet.signMessage({ message: twice }))).status).toBe(401);
    expect(await database().select().from(walletAddress)).not.toContainEqual(
      expect.objectContaining({ address: wallet.address }),
    );
  });

  test("401 for the signature of another wallet, a used nonce, and invalid signatures", async () => {
    expect((await enter(newWallet(), {}, newWallet())).status).toBe(401);
    const wallet = newWallet();
    const message = await messageOf(wallet);
    const signature = await wallet.signMessage({ message });
    expect((await verify(message, signature)).status).toBe(200);
    expect((await verify(message, signature)).status).toBe(401);
    for (const bad of ["0x", "0x".padEnd(132, "0"), `0x${"ff".repeat(65)}`, `0x${"ab".repeat(200)}`]) {
      expect([bad, (await verify(await messageOf(wallet), bad)).status]).toEqual([bad, 401]);
    }
  });

  test("an account whose creation was interrupted is completed by its wallet's next sign-in", async () => {
    const wallet = newWallet();
    const { user } = await sessionOf(await enter(wallet));
    await pool()`DELETE FROM wallet_address WHERE user_id = ${user.userId}`;
    await pool()`DELETE FROM account WHERE user_id = ${user.userId}`;
    expect((await sessionOf(await enter(wallet))).user.userId).toBe(user.userId);
  });

  test("parallel first sign-ins of a wallet make one account", async () => {
    const wallet = newWallet();
    const answers = await Promise.all([enter(wallet), enter(wallet), enter(wallet)]);
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    const rows = await database().select().from(walletAddress);
    expect(rows.filter(({ address }) => address === wallet.address)).toHaveLength(1);
  });
});
