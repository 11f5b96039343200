import { Badge } from "#components/ui/badge.tsx";
import type { WebhookDelivery, WebhookEndpoint } from "#lib/webhooks/contract.ts";

const endpoints = {
  enabled: { tone: "positive", icon: "check", word: "Enabled" },
  paused: { tone: "caution", icon: "pause", word: "Paused" },
  disabled: { tone: "danger", icon: "cross", word: "Disabled" },
} as const;

const deliveries = {
  pending: { icon: "clock", word: "Waiting" },
  delivered: { tone: "positive", icon: "check", word: "Delivered" },
  failed: { tone: "danger", icon: "cross", word: "Failed" },
} as const;

/* These words are not in StatusBadge, so that the scripts of pages without webhooks do not contain them. */

export function EndpointState({ status }: Pick<WebhookEndpoint, "status">) {
  const { word, ...look } = endpoints[status];
  return <Badge {...look}>{word}</Badge>;
}

export function DeliveryState({ status }: Pick<WebhookDelivery, "status">) {
  const { word, ...look } = deliveries[status];
  return <Badge {...look}>{word}</Badge>;
}
