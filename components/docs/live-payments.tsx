"use client";

import { useQuery } from "@tanstack/react-query";
import { RecentPayments } from "#components/buyer/recent-payments.tsx";
import { atAddress, call } from "#lib/http/client.ts";
import type * as contract from "#lib/payments/contract.ts";

const listPayments = atAddress<typeof contract.listPayments>({ id: "listPayments", method: "GET", path: "/api/v1/payments" });

const EVERY_MS = 3_000;
const ROWS_MAX = "5";

export function LivePayments() {
  const { data, error } = useQuery({
    queryKey: [listPayments.id, "live"],
    queryFn: ({ signal }) => call(listPayments, { query: { limit: ROWS_MAX } }, { signal }),
    refetchInterval: EVERY_MS,
    retry: false,
  });
  if (error) return <p className="panel-body text-sm text-muted">We could not read your requests. We try again.</p>;
  if (!data) return <p className="panel-body text-sm text-muted">Reading your requests</p>;
  if (data.items.length === 0) return <p className="panel-body text-sm text-muted">Waiting for your first request</p>;
  return <RecentPayments payments={data.items} />;
}
