import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { textOf, wholeText } from "../../sdk/src/bounded.ts";
import { challengeFrom, priceOf, tokensOf } from "../../sdk/src/challenge.ts";
import { ChallengeRefused } from "../../sdk/src/errors.ts";
import { chargesIn } from "../../sdk/src/mpp.ts";
import { requiredIn } from "../../sdk/src/required.ts";

const url = "https://seller.example.com/report";
const tokenAddress = "0x036cbd53842c5426634e7929541ec2318f3dcf7e";
const token = { asset: "USDC", chain: "eip155:84532", tokenAddress, tokenName: "USDC", tokenVersion: "2", tokenDecimals: 6 };
const offer = {
  scheme: "exact",
  network: token.chain,
  amount: "250000",
  asset: tokenAddress,
  payTo: `0x${"0a".repeat(20)}`,
  maxTimeoutSeconds: 60,
  extra: { name: "USDC", version: "2" },
};
/** It moves on no chain, so nothing is signed for it. */
const usd = { asset: "USD", chain: "iso4217:USD", counts: "1" };
const read = (...accepts: readonly object[]) => challengeFrom({ x402Version: 2, resource: { url }, accepts }, url, [token]);

test.each([60.5, 0, -60, Number.NaN, 1e300, "60", null, undefined])(
  "an offer with the maxTimeoutSeconds %s cannot be signed, so another offer is taken, or the 402 is refused",
  async (maxTimeoutSeconds) => {
    const odd = { ...offer, maxTimeoutSeconds };
    await expect(read(odd)).rejects.toThrow(ChallengeRefused);
    const version1 = { ...odd, network: "base-sepolia", maxAmountRequired: offer.amount, resource: url };
    await expect(challengeFrom({ x402Version: 1, accepts: [version1] }, url, [token])).rejects.toThrow(ChallengeRefused);
    expect((await read(odd, offer)).offer).toEqual(offer);
  },
);

test("of several tokens of a mandate, the first of the seller's offers in one of them is taken, with the token's decimals", async () => {
  const euros = { ...token, asset: "EURX", tokenAddress: `0x${"e0".repeat(20)}`, tokenDecimals: 18 };
  const inEuros = { ...offer, asset: euros.tokenAddress, amount: "250000000000000000" };
  const other = { ...offer, asset: `0x${"ff".repeat(20)}` };
  const tokens = tokensOf({ assets: [{ ...token, counts: "1" }, { ...euros, counts: "1.12" }, usd] });
  const read = (...accepts: readonly object[]) => challengeFrom({ x402Version: 2, resource: { url }, accepts }, url, tokens);
  expect((await read(other, inEuros, offer)).offer).toEqual(inEuros);
  expect(priceOf(inEuros, tokens)).toEqual({ amount: "0.25", asset: "EURX", chain: token.chain });
  await expect(read(other)).rejects.toThrow("USDC on eip155:84532 or EURX on eip155:84532");
  expect(tokensOf({ asset: token })).toEqual([token]);
});

test("an answer that stalls or is too large is cut, and one of exactly the limit is not", async () => {
  const stalled = () => new Response(new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode("abc")) }));
  expect(await textOf(stalled(), { bytes: 9, milliseconds: 1 })).toMatchObject({ text: "abc", cut: expect.any(Error) });
  await expect(wholeText(stalled(), { bytes: 9, milliseconds: 1 })).rejects.toThrow("0.001 seconds");
  const limits = { bytes: 3, milliseconds: 60_000 };
  expect(await textOf(new Response("abc"), limits)).toEqual({ text: "abc" });
  expect(await textOf(new Response("abcd"), limits)).toMatchObject({ text: "abc", cut: expect.any(Error) });
});

test("a 402 without an end is refused, and not read on", async () => {
  let parts = 0;
  const pull = (body: ReadableStreamDefaultController): void => {
    parts += 1;
    body.enqueue(new Uint8Array(65_536).fill(32));
  };
  expect(await requiredIn(new Response(new ReadableStream({ pull }), { status: 402 }))).toBe(null);
  expect(parts).toBeLessThan(32);
});

test("every answer that the package reads has a size and a time", async () => {
  const folder = join(import.meta.dirname, "../../sdk/src");
  const files = (await Array.fromAsync(glob("**/*.ts", { cwd: folder }))).filter((file) => file !== "bounded.ts");
  const sources = await Promise.all(files.map(async (file) => [file, await readFile(join(folder, file), "utf8")] as const));
  const reads = /\.(?:text|json|arrayBuffer|bytes|blob|formData|getReader|pipeThrough|pipeTo)\(/;
  expect(sources.filter(([, source]) => reads.test(source)).map(([file]) => file)).toEqual([]);
});

const request = {
  amount: "250000",
  currency: tokenAddress,
  recipient: offer.payTo,
  methodDetails: { chainId: 84_532, credentialTypes: ["authorization"] },
};
const encoded = Buffer.from(JSON.stringify(request)).toString("base64url");
const charge = `Payment id="1", realm="shop, \\"a\\" \\u2014", method="evm", intent="charge", request="${encoded}"`;

test.each([
  ["alone", charge, 1],
  ["beside other schemes", `Bearer, Negotiate abc==, Digest realm="Payment id=2", ${charge}, Basic realm="x"`, 1],
  ["twice, in lower case", `${charge.replace("Payment", "payment")} , ${charge}`, 2],
  ["with a parameter twice", `${charge}, id="2"`, 0],
  ["for a header of the seller's choice", `${charge}, header="Cookie"`, 0],
  ["of another method", charge.replace("evm", "tempo"), 0],
  ["whose request is no JSON", charge.replace(encoded, "e30x"), 0],
  ["with an open quotation", `${charge}, description="`, 1],
])("MPP's charge in WWW-Authenticate %s", (_, header, count) => {
  const charges = chargesIn(header);
  expect(charges).toHaveLength(count);
  for (const one of charges) expect(one).toMatchObject({ id: "1", realm: 'shop, "a" \u2014', request: encoded });
});
