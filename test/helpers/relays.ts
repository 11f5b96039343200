import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { eq, sql } from "drizzle-orm";
import { encodeFunctionData } from "viem";
import { onTestFinished } from "vitest";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { newId } from "#lib/ids.ts";
import { atomicOf } from "#lib/money.ts";
import { senderOf } from "#lib/onchain/keys.ts";
import type { RelayRequest } from "#lib/onchain/relay-row.ts";
import { queueRelay } from "#lib/onchain/relay/queue-relay.ts";
import { mandateRegistrations, relayedTransactions, relayLeases } from "#lib/onchain/tables.ts";
import { forget } from "#lib/process.ts";
import { CHAIN } from "#test/mandates.ts";
import { past } from "#test/past.ts";
import type { LocalChain } from "../../examples/chain.ts";
import { newKey, registrationArgs, registryAbi, signRegistration, termsOf, type Contracts } from "./smart-account.ts";

/**
 * Configures another RPC URL or other contracts until the test ends. The returned function restores the configuration at once.
 */
export function configureChain(change: { readonly rpcUrl?: string; readonly contracts?: Record<string, string> }): () => void {
  const before = process.env["CHAINS"];
  const renew = (chains: string | undefined): void => {
    process.env["CHAINS"] = chains;
    forget("env", `chains/client ${CHAIN}`, "onchain/registry/deployments");
  };
  const [configured] = env().CHAINS;
  renew(JSON.stringify([{ ...configured, ...change, contracts: { ...configured?.contracts, ...change.contracts } }]));
  const restore = () => renew(before);
  onTestFinished(restore);
  return restore;
}

/** Gives the relayer and the guardian ether for gas. */
export const fundSenders = async (chain: LocalChain): Promise<void> => {
  for (const key of ["relayer", "guardian"] as const) await chain.fund(senderOf(key).address);
};

/** A registration that its account has signed, with the transaction that the service would send for it. */
export async function signedRegistration({ registry }: Contracts, { deadline = 2n ** 40n, mandateId = newId("mandate") } = {}) {
  const owner = newKey();
  const terms = termsOf(owner.address, Math.floor(Date.now() / 1000));
  const signed = await signRegistration(registry, owner, terms, { deadline });
  const args = registrationArgs(signed);
  const request: RelayRequest = {
    organizationId: "org_of_a_test",
    environment: "sandbox",
    mandateId,
    chain: CHAIN,
    key: "relayer",
    purpose: "registerMandate",
    entityId: newId("registration"),
    to: registry,
    data: encodeFunctionData({ abi: registryAbi, functionName: "registerMandate", args }),
  };
  return { ...signed, owner, onChainId: signed.mandateId, request };
}

export const queue = (request: RelayRequest): Promise<string> => database().transaction((tx) => queueRelay(tx, request));

export async function queued(contracts: Contracts, options: Parameters<typeof signedRegistration>[1] = {}): Promise<string> {
  return queue((await signedRegistration(contracts, options)).request);
}

export async function relayRowOf(relayId: string) {
  const [row] = await database().select().from(relayedTransactions).where(eq(relayedTransactions.relayId, relayId));
  if (!row) throw new Error("There is no such transaction.");
  return row;
}

/** Makes a transaction `seconds` older: the times at which it was queued and sent. Makes its next check due. */
export const age = (relayId: string, seconds: number) =>
  database()
    .update(relayedTransactions)
    .set({
      sentAt: sql`sent_at - ${seconds} * interval '1 second'`,
      createdAt: sql`created_at - ${seconds} * interval '1 second'`,
      nextCheckAt: past,
    })
    .where(eq(relayedTransactions.relayId, relayId));

export const makeDue = () =>
  database()
    .update(relayedTransactions)
    .set({ nextCheckAt: past })
    .where(sql`status IN ('queued', 'sent')`);

/** Ends the leases of all keys that send transactions, as if the processes that have them had died. */
export const expireLeases = () => database().update(relayLeases).set({ expiresAt: past });

type SignedRegistration = Awaited<ReturnType<typeof signedRegistration>>;

/** Inserts a registration that was submitted, and queues its transaction. */
export async function submittedRegistration(
  contracts: Contracts,
  { deadline: until, ...of }: { organizationId: string; mandateId: string; deadline?: bigint },
) {
  const signed: SignedRegistration = await signedRegistration(contracts, {
    ...of,
    ...(until !== undefined && { deadline: until }),
  });
  const { terms, request, onChainId, nonce, deadline } = signed;
  const { entityId: registrationId, environment, chain, to } = request;
  const { account, payee, token, perPaymentLimit, periodLimit, ...rest } = terms;
  return database().transaction(async (tx) => {
    const relayId = await queueRelay(tx, { ...request, ...of });
    await tx.insert(mandateRegistrations).values({
      ...rest,
      ...of,
      registrationId,
      environment,
      version: 1,
      chain,
      registry: to.toLowerCase(),
      account: account.toLowerCase(),
      payee: payee.toLowerCase(),
      token: token.toLowerCase(),
      onChainId,
      perPaymentLimit: atomicOf(perPaymentLimit),
      periodLimit: atomicOf(periodLimit),
      nonce: atomicOf(nonce),
      deadline: Number(deadline),
      fingerprint: registrationId,
      status: "submitted",
      relayId,
    });
    return { ...signed, registrationId, relayId };
  });
}

export async function registrationOf(registrationId: string) {
  const [row] = await database()
    .select()
    .from(mandateRegistrations)
    .where(eq(mandateRegistrations.registrationId, registrationId));
  if (!row) throw new Error("There is no such registration.");
  return row;
}

/** Starts a process that only sends transactions. It ends with the test. */
export function anotherRelayer({ databaseUrl, rpcUrl }: { readonly databaseUrl: string; readonly rpcUrl: string }) {
  const CHAINS = JSON.stringify(env().CHAINS.map((chain) => ({ ...chain, rpcUrl })));
  const variables = { ...process.env, NODE_OPTIONS: "", DATABASE_URL: databaseUrl, CHAINS };
  const script = join(import.meta.dirname, "relay-process.ts");
  const child = spawn(process.execPath, [script], { env: variables, stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, ended: once(child, "close") };
}

async function listen(node: Server): Promise<string> {
  await new Promise<void>((done) => node.listen(0, "127.0.0.1", done));
  onTestFinished(() => void node.close());
  return `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
}

/** A node that accepts every request and never answers. */
export async function silentNode() {
  const node = createServer(() => {});
  const rpcUrl = await listen(node);
  const close = (): void => {
    node.close();
    node.closeAllConnections();
  };
  return { rpcUrl, close };
}

/**
 * A proxy in front of the chain's node. After beforeSending(act), it calls `act` for each transaction that arrives, does not
 * pass it on and does not answer.
 */
export async function nodeInBetween(rpcUrl: string) {
  let instead: (() => void) | null = null;
  const headers = { "content-type": "application/json" };
  const node = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      if (instead && body.includes("eth_sendRawTransaction")) return instead();
      const reply = await fetch(rpcUrl, { method: "POST", headers, body });
      response.writeHead(reply.status, headers).end(await reply.text());
    })();
  });
  return { rpcUrl: await listen(node), beforeSending: (act: () => void) => void (instead = act) };
}

/** The registrations of a mandate, oldest first. */
export const registrationsOf = (mandateId: string) =>
  database()
    .select()
    .from(mandateRegistrations)
    .where(eq(mandateRegistrations.mandateId, mandateId))
    .orderBy(mandateRegistrations.registrationId);
