"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useEffect, useRef } from "react";
import { Button } from "#components/ui/button.tsx";
import { Moment } from "#components/ui/moment.tsx";
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
  const router = useRouter();
  const end = useRef<AbortController | null>(null);
  useEffect(() => () => end.current?.abort(), []);
  const sending = useMutation({
    mutationFn: () => {
      end.current = new AbortController();
      return sendTest(id, end.current.signal);
    },
    onSuccess: () => router.refresh(),
  });
  return (
    <>
      {sending.error && <ProblemNotice error={sending.error} nothing="The outcome of the test is not known." />}
      <output className="text-sm">
        {sending.isPending && "Sending a test…"}
        {sending.data !== undefined && <Outcome test={sending.data} />}
      </output>
      <Button size="small" aria-busy={sending.isPending} onClick={() => sending.isPending || sending.mutate()}>
        Send a test
      </Button>
    </>
  );
}
