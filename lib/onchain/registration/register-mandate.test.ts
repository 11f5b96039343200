import { sql } from "drizzle-orm";
import type { Hex } from "viem";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { revokeMandate, suspendMandate } from "#lib/mandates/contract.ts";
import { revokeMandate as revoke } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { suspendMandate as suspend } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { confirmRegistrations } from "#lib/onchain/registration/confirm-registrations.ts";
import { senderOf } from "#lib/onchain/keys.ts";
import { DEADLINE_MAX_SECONDS, requireDeadline } from "#lib/onchain/registry/registration-rules.ts";
import { registryAbi } from "#lib/onchain/registry/registry.ts";
import { relay } from "#lib/onchain/relay/relay-worker.ts";
import { useDatabase } from "#test/database.ts";
import { eventsOf } from "#test/mandates.ts";
import {
  authorizationOf,
  bodyOf,
  prepared,
  register,
  registrable,
  signedBody,
  signTyped,
  type Prepared,
  type Registrable,
} from "#test/registrations.ts";
import { useSettlement } from "#test/payments.ts";
import { useContracts } from "#test/registered.ts";
import { refusedRequests, refusedStates, type RefusalCase } from "#test/registration-cases.ts";
import { configureChain, fundSenders, registrationsOf } from "#test/relays.ts";
import { newKey } from "#test/smart-account.ts";
import { send } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();
const contracts = useContracts(chain);
beforeAll(() => fundSenders(chain()));

/** The relayer's next nonce, counting transactions that are sent but not mined yet. */
const relayerNonce = () => chain().client.getTransactionCount({ address: senderOf("relayer").address, blockTag: "pending" });

const termsOn = (account: Hex, onChainId: string) =>
  chain().client.readContract({
    address: contracts().registry,
    abi: registryAbi,
    functionName: "termsOf",
    args: [account, onChainId as Hex],
  });

/** All requests here count as one IP address, whose attempts per minute are limited, so delete the counts of earlier tests. */
beforeEach(async () => void (await database().execute(sql`DELETE FROM rate_limit`)));

const codeOf = (address: Hex) => chain().client.getCode({ address });

describe("registerMandate", () => {
  test("200 relays what the wallet signed, and a repeat gets the same answer", async () => {
    const scene = await registrable();
    const body = await signedBody(scene);
    const first = await register(scene.mandateId, body);
    expect([first.status, first.data]).toMatchObject([
      200,
      { chain: body.chain, contractAddress: contracts().registry, action: "registerMandate" },
    ]);
    const [again, twin] = await Promise.all([register(scene.mandateId, body), register(scene.mandateId, body)]);
    expect([again.data, twin.data]).toEqual([first.data, first.data]);
    const [row] = await registrationsOf(scene.mandateId);
    expect(await termsOn(scene.wallet.address, row!.onChainId)).toMatchObject({
      account: scene.wallet.address,
      payee: scene.payee,
      perPaymentLimit: 1_000_000n,
      periodLimit: 5_000_000n,
      periodSeconds: 86_400,
      maxPaymentsPerPeriod: 5,
      enforcementPath: 1,
    });
  });

  test("two equal requests at once make one registration", async () => {
    const scene = await registrable();
    const body = await signedBody(scene, "module");
    const before = await relayerNonce();
    const answers = await Promise.all([register(scene.mandateId, body), register(scene.mandateId, body)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers[0]?.data).toEqual(answers[1]?.data);
    expect(await relayerNonce()).toBe(before + 1);
    expect(await registrationsOf(scene.mandateId)).toMatchObject([{ enforcementPath: 2 }]);
  });

  test("an authorization delegates and registers in one transaction", async () => {
    const scene = await registrable();
    const what = await prepared(scene);
    expect(what.delegation.done).toBe(false);
    const authorization = await authorizationOf(scene.wallet, what);
    const body = { ...bodyOf(what, await signTyped(scene.wallet, what.typedData)), authorization };
    const { status, data, problem } = await register(scene.mandateId, body);
    expect([status, problem.detail]).toEqual([200, undefined]);
    const receipt = await chain().client.waitForTransactionReceipt({ hash: data.txHash as Hex });
    expect([receipt.status, receipt.type]).toEqual(["success", "eip7702"]);
    const implementation = contracts().implementation.toLowerCase();
    expect(await codeOf(scene.wallet.address)).toBe(`0xef0100${implementation.slice(2)}`);
  });

  test("the signature of a delegated account is checked by ERC-1271, without an authorization", async () => {
    const scene = await registrable();
    const first = await prepared(scene);
    const authorization = await authorizationOf(scene.wallet, first);
    const hash = await chain().client.sendTransaction({
      to: scene.wallet.address,
      authorizationList: [authorization as never],
    });
    await chain().client.waitForTransactionReceipt({ hash });
    const what = await prepared(scene);
    expect(what.delegation.done).toBe(true);
    const foreign = bodyOf(what, await signTyped(newKey(), what.typedData));
    expect((await register(scene.mandateId, foreign)).problem.code).toBe("unauthenticated");
    const body = bodyOf(what, await signTyped(scene.wallet, what.typedData));
    expect((await register(scene.mandateId, body)).status).toBe(200);
  });

  test("a mandate becomes registered when the chain shows it, with an entry in the mandate's history", async () => {
    const scene = await registrable();
    await register(scene.mandateId, await signedBody(scene));
    const status = async () => {
      await relay();
      await confirmRegistrations();
      return (await registrationsOf(scene.mandateId))[0]?.status;
    };
    await expect.poll(status).toBe("registered");
    expect((await registrationsOf(scene.mandateId))[0]).toMatchObject({ failure: null, revocation: "none" });
    expect((await eventsOf(scene.mandateId)).map(({ type }) => type)).toEqual(
      expect.arrayContaining(["onchain.mandateRegistrationSubmitted", "onchain.mandateRegistrationConfirmed"]),
    );
  });
});

describe("registerMandate refuses without spending gas:", () => {
  let shared: Registrable;
  beforeAll(async () => {
    shared = await registrable();
  });

  const refuses = async ([, { status, code, pointer }, ask]: RefusalCase, scene: Registrable) => {
    const before = await relayerNonce();
    const { mandateId = scene.mandateId, body } = await ask(scene, { chain: chain(), contracts: contracts() });
    const answer = await register(mandateId, body);
    expect([answer.status, answer.problem.code, answer.problem.errors?.[0]?.pointer]).toEqual([status, code, pointer]);
    expect(await relayerNonce()).toBe(before);
    expect(await registrationsOf(mandateId)).toEqual([]);
  };

  test.each(refusedRequests)("%s", async (...refused) => refuses(refused, shared));
  test.each(refusedStates)("%s", async (...refused) => refuses(refused, await registrable()));

  test("a second nonce for a registered version, and a used nonce for another mandate of the wallet", async () => {
    const scene = await registrable();
    const other = await registrable({ wallet: { chain: "eip155:84532", address: scene.wallet.address } });
    const [first, second] = [await signedBody(scene), await signedBody(scene)];
    await register(scene.mandateId, first);
    const before = await relayerNonce();
    expect((await register(scene.mandateId, second)).problem.code).toBe("conflict");
    const { typedData } = await prepared(other);
    const again = { ...typedData, message: { ...typedData.message, nonce: first.nonce, deadline: String(first.deadline) } };
    const reused = { ...first, payeeAddress: other.payee, signature: await signTyped(scene.wallet, again) };
    expect((await register(other.mandateId, reused)).problem.code).toBe("nonce_reused");
    expect(await relayerNonce()).toBe(before);
  });

  test("a caller without the wallet's signature, with the same answer for mandates of others and for unknown ones", async () => {
    const scene = await registrable();
    const signature = (await signedBody(await registrable()))["signature"];
    const steps = [null, suspend, revoke] as const;
    const told = async (id: string, change: Record<string, unknown>) => {
      const { status, problem } = await register(id, { ...(await good()), signature, ...change });
      expect(problem.status).toBe(status);
      return { ...problem, requestId: "" };
    };
    const deadline = Math.floor(Date.now() / 1_000) + 600;
    const good = async () => ({ chain: "eip155:84532", payeeAddress: scene.payee, nonce: "1", deadline });
    for (const step of steps) {
      if (step === suspend) await send(suspendMandate, suspend, { as: scene.as, id: scene.mandateId });
      if (step === revoke) await send(revokeMandate, revoke, { as: scene.as, id: scene.mandateId });
      for (const change of [{}, { tokenName: "x" }, { deadline: 1 }, { payeeAddress: scene.wallet.address }])
        expect(await told(scene.mandateId, change)).toEqual(await told("mdt_never", change));
    }
    const restore = configureChain({ rpcUrl: "http://127.0.0.1:9" });
    const silent = [await told(scene.mandateId, {}), await told("mdt_never", {})];
    restore();
    expect(silent[0]).toEqual(silent[1]);
    expect(silent[0]).toMatchObject({ status: 502 });
  });

  test("everything while the chain does not answer; the same request works afterwards", async () => {
    const scene = await registrable();
    const body = await signedBody(scene);
    const before = await relayerNonce();
    const restore = configureChain({ rpcUrl: "http://127.0.0.1:9" });
    const { status, problem } = await register(scene.mandateId, body);
    restore();
    expect([status, problem.code]).toEqual([502, "rpc_unavailable"]);
    expect([await relayerNonce(), await registrationsOf(scene.mandateId)]).toEqual([before, []]);
    expect((await register(scene.mandateId, body)).status).toBe(200);
  });

  test("the sixty-first attempt of an address in a minute", async () => {
    const scene = await registrable();
    const body = { ...(await signedBody(scene)), payeeAddress: newKey().address };
    await database().execute(sql`INSERT INTO rate_limit (id, key, count, last_request)
      VALUES ('x', 'registerMandate:unknown', 60, extract(epoch FROM clock_timestamp())::bigint * 1000)`);
    expect((await register(scene.mandateId, body)).status).toBe(429);
  });
});

describe("a signature is invalid if any signed field differs", () => {
  const word = () =>
    `0x${crypto.getRandomValues(new Uint8Array(32)).reduce((text, byte) => text + byte.toString(16).padStart(2, "0"), "")}`;
  const number = (most: bigint) => (BigInt(word()) % most).toString();
  const domain: Record<string, () => unknown> = {
    name: () => `Mandate Registry ${number(9n)}`,
    // The correct version is 1, so wrong ones begin at 2.
    version: () => String(2n + BigInt(number(1_000n))),
    chainId: () => Number(number(10_000n)),
    verifyingContract: () => newKey().address,
  };
  const message: Record<string, () => unknown> = {
    mandateId: word,
    account: () => newKey().address,
    payee: () => newKey().address,
    token: () => newKey().address,
    perPaymentLimit: () => number(2n ** 128n),
    periodLimit: () => number(2n ** 128n),
    periodSeconds: () => number(2n ** 40n),
    start: () => number(2n ** 40n),
    end: () => number(2n ** 40n),
    maxPaymentsPerPeriod: () => number(2n ** 32n),
    enforcementPath: () => String(3n + BigInt(number(200n))),
    termsHash: word,
    nonce: () => number(2n ** 256n),
    deadline: () => number(2n ** 256n),
  };

  let scene: Registrable;
  let what: Prepared;
  const refused = async (typedData: unknown) => {
    const { status } = await register(scene.mandateId, bodyOf(what, await signTyped(scene.wallet, typedData)));
    expect([status, await registrationsOf(scene.mandateId)]).toEqual([401, []]);
  };
  beforeAll(async () => {
    scene = await registrable();
    what = await prepared(scene);
  });

  test.each(Object.entries(domain))("the domain's %s", async (field, value) => {
    const { typedData } = what;
    for (let turn = 0; turn < 3; turn += 1) await refused({ ...typedData, domain: { ...typedData.domain, [field]: value() } });
  });

  test.each(Object.entries(message))("the message's %s", async (field, value) => {
    const { typedData } = what;
    for (let turn = 0; turn < 3; turn += 1) await refused({ ...typedData, message: { ...typedData.message, [field]: value() } });
  });

  test("another type with the same fields", async () => {
    const { typedData } = what;
    const types = { ...typedData.types, RevokeMandate: typedData.types["RegisterMandate"] };
    await refused({ ...typedData, types, primaryType: "RevokeMandate" });
  });
});

describe("a deadline", () => {
  const at = 1_795_262_400;
  const now = new Date(at * 1_000);
  const holds = (deadline: number, time: Date) => {
    try {
      requireDeadline(deadline, time);
      return true;
    } catch {
      return false;
    }
  };

  test("is in the future, and at most an hour ahead, to the millisecond", () => {
    expect(holds(at, now)).toBe(false);
    expect(holds(at, new Date(now.getTime() - 1))).toBe(true);
    expect(holds(at + DEADLINE_MAX_SECONDS, now)).toBe(true);
    expect(holds(at + DEADLINE_MAX_SECONDS, new Date(now.getTime() - 1))).toBe(false);
  });
});

test("in any order of events, the guardian closes every registration of a revoked mandate", async () => {
  for (let turn = 0; turn < 4; turn += 1) {
    const scene = await registrable();
    const body = await signedBody(scene);
    const [{ status }] = await Promise.all([
      register(scene.mandateId, body),
      send(revokeMandate, revoke, { as: scene.as, id: scene.mandateId }),
    ]);
    const rows = await registrationsOf(scene.mandateId);
    if (status === 403) expect(rows).toEqual([]);
    for (const { revocation } of rows) expect(revocation).not.toBe("none");
  }
});
