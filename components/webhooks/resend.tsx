"use client";

import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { resendWebhookDeliveries } from "./calls.ts";

type Props = {
  readonly webhookEndpointId: string;
  /** The id of one delivery, or null for the deliveries that failed. */
  readonly webhookDeliveryId: string | null;
};

/** A time before every delivery, so that no failed delivery is too old to be sent again. */
const EVER = "1970-01-01T00:00:00.000Z";

/** One call sends at most 10,000 deliveries again. */
export function Resend({ webhookEndpointId: id, webhookDeliveryId }: Props) {
  const body = webhookDeliveryId === null ? { failedSince: EVER } : { webhookDeliveryId };
  const { send, busy, error } = useOperation(resendWebhookDeliveries, {
    done: ({ resent }) => announce(resent === 1 ? "One message is sent again" : `${resent} messages are sent again`),
  });
  return (
    <>
      <ProblemNotice error={error} nothing="Nothing was sent." />
      <Button size="small" aria-busy={busy} onClick={() => send({ id, body })}>
        {webhookDeliveryId === null ? (
          "Resend all failed"
        ) : (
          <>
            Resend<span className="sr"> {webhookDeliveryId}</span>
          </>
        )}
      </Button>
    </>
  );
}
