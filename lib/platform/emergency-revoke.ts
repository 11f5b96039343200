import { setTimeout as pause } from "node:timers/promises";
import { presentEvent } from "#lib/audit/list-audit-events.ts";
import { audit, clock, writeNoted, type NewEvent } from "#lib/audit/transact.ts";
import { urgentDatabase, urgentPool, type Tx } from "#lib/db/client.ts";
import { databaseAway, lockedOut, outcomeUnknown, sqlState } from "#lib/db/failure.ts";
import { closeGateAtOnce } from "#lib/command/gate-store.ts";
import { countAttempt } from "#lib/http/attempts.ts";
import { once } from "#lib/command/idempotency.ts";
import type { Handler, Input, SessionCaller } from "#lib/http/operation.ts";
import { revokeAccountAndKeys } from "#lib/identity/keys/service-account-store.ts";
import { newId } from "#lib/ids.ts";
import { queueRevocations } from "#lib/onchain/registration/revoke-registrations.ts";
import * as contract from "#lib/platform/contract.ts";
import {
  countLiveKeys,
  findAnyAgent,
  findAnyMandate,
  findAnySeller,
  revokeMandateNow,
  selectUnderWay,
  type Target,
} from "#lib/platform/emergency-store.ts";
import { requireRight } from "#lib/identity/platform-right.ts";
import { notFound, Problem } from "#lib/problem.ts";
import { log } from "#lib/telemetry/log.ts";
import type { Reach } from "#lib/sellers/stops.ts";
import { reachOfStop, recordStop, stopSeller } from "#lib/sellers/stop-store.ts";

const TRIES_MAX = 30;
/** A try takes at most six seconds (statement_timeout), so the last one ends before the request's 30 seconds do. */
const AGAIN_MS = 20_000;
const PAUSE_MS = 200;
/** The maximum number of executions in the audit event; if there are more, the event has `moreExecutions: true`. */
const NAMED_MAX = 500;

type Body = Input<typeof contract.emergencyRevoke>["body"];
type Stop = {
  readonly tx: Tx;
  readonly caller: SessionCaller;
  readonly actionId: string;
  readonly reason: string;
  readonly now: Date;
};
type StopFacts = { readonly organizationId: string; readonly was: string; readonly reach?: readonly Reach[] } & Readonly<
  Record<string, unknown>
>;

function auditStop({ tx, caller, actionId, reason, now }: Stop, event: Omit<NewEvent, "actorId" | "metadata">): void {
  audit(tx, { ...event, actorId: caller.userId, metadata: { reason, emergency: actionId } }, now);
}

async function stopMandate(stop: Stop, mandateId: string): Promise<StopFacts> {
  const found = await findAnyMandate(stop.tx, stop.caller.environment, mandateId);
  if (!found) throw notFound("mandate");
  const { organizationId, status: was } = found;
  if (was !== "revoked") {
    await revokeMandateNow(stop.tx, mandateId, stop.now);
    auditStop(stop, { type: "mandate.revoked", organizationId, entityType: "mandate", entityId: mandateId });
  }
  const revocationsOnChain = await queueRevocations(stop.tx, mandateId);
  return { organizationId, was, ...(revocationsOnChain > 0 && { revocationsOnChain }) };
}

async function stopAgent(stop: Stop, agentId: string): Promise<StopFacts> {
  const found = await findAnyAgent(stop.tx, stop.caller.environment, agentId);
  if (!found) throw notFound("agent");
  const { organizationId, revokedAt } = found;
  const liveKeys = await countLiveKeys(stop.tx, agentId);
  if (revokedAt === null) {
    await revokeAccountAndKeys(stop.tx, agentId, stop.now);
    auditStop(stop, { type: "serviceAccount.revoked", organizationId, entityType: "serviceAccount", entityId: agentId });
  }
  return { organizationId, was: revokedAt === null ? "active" : "revoked", liveKeys };
}

async function stopOneSeller(stop: Stop, sellerId: string): Promise<StopFacts> {
  const found = await findAnySeller(stop.tx, stop.caller.environment, sellerId);
  if (!found) throw notFound("seller");
  const { organizationId, domain, stoppedAt } = found;
  const { verified } = await stopSeller(stop.tx, sellerId, stop.now);
  const reach = await reachOfStop(stop.tx, { sellerId, organizationId, domain, verified });
  await recordStop(stop.tx, sellerId, reach, stop.now);
  if (stoppedAt === null) {
    auditStop(stop, { type: "seller.suspended", organizationId, entityType: "seller", entityId: sellerId });
  }
  return { organizationId, domain, was: stoppedAt === null ? "active" : "stopped", reach };
}

function targetsOf({ mandateId, agentId, sellerId }: Body): Target[] {
  const targets: Target[] = [];
  if (mandateId !== undefined) targets.push({ kind: "mandate", id: mandateId });
  if (agentId !== undefined) targets.push({ kind: "agent", id: agentId });
  if (sellerId !== undefined) targets.push({ kind: "seller", id: sellerId });
  if (targets.length > 0) return targets;
  throw new Problem("invalid_request", {
    detail: "Name what is to be stopped.",
    errors: [{ pointer: "/mandateId", detail: "Name at least one of mandateId, agentId and sellerId." }],
  });
}

const stops = { mandate: stopMandate, agent: stopAgent, seller: stopOneSeller } as const;

/** A lock or connection that was not free in time is asked for again, so that only a longer outage reaches the administrator. */
async function untilDone<T>(stop: () => Promise<T>, repeatable: boolean): Promise<T> {
  const until = performance.now() + AGAIN_MS;
  for (;;) {
    try {
      return await stop();
    } catch (error) {
      const passes = lockedOut(error) || (databaseAway(error) && (repeatable || !outcomeUnknown(error)));
      if (!passes || performance.now() >= until) throw error;
      log().warn({ code: sqlState(error) }, "An emergency stop is tried again");
      await pause(PAUSE_MS);
    }
  }
}

/** Executing an authorization of a stopped target is refused; a background job releases its reserved amount later. */
export const emergencyRevoke: Handler<typeof contract.emergencyRevoke> = async ({ body }, { caller, idempotency, requestId }) => {
  const targets = targetsOf(body);
  await countAttempt("emergency", caller.userId, TRIES_MAX, { on: urgentPool().sql });
  const work = async (tx: Tx) => {
    await closeGateAtOnce(tx);
    const now = await clock(tx);
    await requireRight(tx, caller, "platform.emergency.revoke", now);
    const actionId = newId("action");
    const { reason, ...named } = body;
    const stop: Stop = { tx, caller, actionId, reason, now };
    const hit: Record<string, StopFacts> = {};
    const found = new Set<string>();
    for (const target of targets) {
      const { reach } = (hit[target.kind] = await stops[target.kind](stop, target.id));
      for (const { executionId } of await selectUnderWay(tx, target, NAMED_MAX + 1, reach)) found.add(executionId);
    }
    // Ids sort by time, so the executions that are listed are the newest of all targets.
    const underWay = [...found].sort().reverse();
    const submittedExecutions = underWay.slice(0, NAMED_MAX);
    const more = underWay.length > NAMED_MAX && { moreExecutions: true };
    const metadata = { requestId, reason, ...named, hit, submittedExecutions, ...more };
    const event = { type: "emergency.revoked", actorId: caller.userId, organizationId: null, entityType: "action" };
    const { auditEventId } = audit(tx, { ...event, entityId: actionId, metadata }, now);
    // The reply has the event's hash, so the audit heads are locked before the idempotency slot. Requests with the same key
    // already wait for each other in closeGateAtOnce, so they cannot deadlock.
    const written = (await writeNoted(tx)).find((one) => one.auditEventId === auditEventId);
    if (!written) throw new Error("An emergency left no event.");
    return { actionId, status: "accepted" as const, auditEvent: presentEvent(written) };
  };
  return untilDone(() => once(contract.emergencyRevoke, idempotency, work, urgentDatabase()), idempotency !== null);
};
