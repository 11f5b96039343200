"use client";

import { Badge } from "#components/ui/badge.tsx";
import { Code } from "#components/ui/code.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import type { Exchange } from "./exchange.ts";

const look = (status: number) =>
  status < 400 ? ({ tone: "positive", icon: "check" } as const) : ({ tone: "danger", icon: "cross" } as const);

/** `number` is empty if there is only one exchange. */
function One({ exchange, number }: { readonly exchange: Exchange; readonly number: string }) {
  const { method, path, sent, status, requestId, milliseconds, received } = exchange;
  return (
    <li className="grid grid-cols-1 gap-3 py-4">
      <p className="text-sm flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge {...look(status)}>{String(status)}</Badge>
        <code>
          {method} {path}
        </code>
        <span className="text-muted">{milliseconds} ms</span>
        {requestId !== null && <Copyable value={requestId} label="request id" head={8} />}
      </p>
      {sent !== null && (
        <details>
          <summary>Request</summary>
          <div className="pt-2">
            <Code label={`Request${number}`} text={sent} />
          </div>
        </details>
      )}
      <Code label={`Reply${number}`} text={received} />
    </li>
  );
}

/** The caller passes the newest exchange first. */
export const ExchangeLog = ({ exchanges }: { readonly exchanges: readonly Exchange[] }) => (
  <ol className="divide-y" aria-label="Requests">
    {exchanges.map((exchange, index) => (
      <One key={exchange.id} exchange={exchange} number={exchanges.length === 1 ? "" : ` ${exchanges.length - index}`} />
    ))}
  </ol>
);
