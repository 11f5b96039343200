"use client";

import { useEffect, useRef } from "react";
import { Button } from "#components/ui/button.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { call } from "#lib/http/client.ts";
import type { WebhookDelivery } from "#lib/webhooks/contract.ts";
import { answerWords } from "./answer-words.ts";
import { listWebhookDeliveries, testWebhookEndpoint } from "./calls.ts";
import { DeliveryState } from "./state.tsx";

const EVERY_MS = 1_000;
/** An attempt ends after 15 seconds; a busy service may begin it later. */
const CHECKS_MAX = 60;
/** How many of the newest deliveries are searched for the test. */
const LIMIT = 50;

/** The test after its first attempt, or null if it has had none within a minute. */
async function sendTest(id: string, signal: AbortSignal): Promise<WebhookDelivery | null> {
  const { webhookDeliveryId } = await call(testWebhookEndpoint, { id, body: {} }, { signal });
  for (let check = 0; check < CHECKS_MAX && !signal.aborted; check += 1) {
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    const { items } = await call(listWebhookDeliveries, { id, query: { limit: LIMIT } }, { signal });
    const test = items.find((one) => one.webhookDeliveryId === webhookDeliveryId);
    if (test && test.attempts > 0) return test;
  }
  return null;
}

const Outcome = ({ test }: { readonly test: WebhookDelivery | null }) =>
  test === null ? (
    <>It was not tried yet. The list of deliveries shows when it is.</>
  ) : (
    <>
      <DeliveryState status={test.status} /> {answerWords(test)}
      {test.nextAttemptAt !== undefined && (
        <>
          , next attempt <Moment at={test.nextAttemptAt} show="short" />
        </>
      )}
    </>
  );

export function SendTest({ webhookEndpointId: id }: { readonly webhookEndpointId: string }) {
  const end = useRef<AbortController | null>(null);
  useEffect(() => () => end.current?.abort(), []);
  const { send, busy, error, data } = useOperation(() => {
    end.current = new AbortController();
    return sendTest(id, end.current.signal);
  });
  return (
    <>
      <ProblemNotice error={error} nothing="The outcome of the test is not known." />
      <output className="text-sm">
        {busy && "Sending a test…"}
        {data !== undefined && <Outcome test={data} />}
      </output>
      <Button size="small" aria-busy={busy} onClick={() => send()}>
        Send a test
      </Button>
    </>
  );
}
