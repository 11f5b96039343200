"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { call } from "#lib/http/client.ts";
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
  const router = useRouter();
  const sending = useMutation({
    mutationFn: () =>
      call(resendWebhookDeliveries, { id, body: webhookDeliveryId === null ? { failedSince: EVER } : { webhookDeliveryId } }),
    onSuccess: ({ resent }) => {
      announce(resent === 1 ? "One message is sent again" : `${resent} messages are sent again`);
      router.refresh();
    },
  });
  return (
    <>
      {sending.error && <ProblemNotice error={sending.error} nothing="Nothing was sent." />}
      <Button size="small" aria-busy={sending.isPending} onClick={() => sending.isPending || sending.mutate()}>
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
