import { jsonSchema, tool, type Tool } from "ai";
import { textOf } from "./bounded.ts";
import { factsOf } from "./facts.ts";
import type { Countersign } from "./index.ts";

const ANSWER_MS = 60_000;

export type PaidFetchOptions = {
  /** The hosts that the model may call, with the port if it is not the protocol's default. Redirects are not followed. */
  readonly hosts: readonly string[];
  /**
   * Returns the name of the purchase that a tool call makes. Calls with the same name make one purchase, which is paid once.
   * Default: each call is its own purchase.
   */
  readonly operation?: (call: { readonly url: string; readonly toolCallId: string }) => string;
  /**
   * The maximum number of characters of an answer that the model gets. Default: 100,000. A longer answer, or one that takes longer
   * than a minute, is cut off and marked as `truncated`.
   */
  readonly maxCharacters?: number;
};

export type PaidFetchInput = {
  readonly url: string;
  readonly method?: "GET" | "POST";
  readonly body?: string;
  readonly purpose?: string;
};

const inputSchema = jsonSchema<PaidFetchInput>({
  type: "object",
  properties: {
    url: { type: "string" },
    method: { enum: ["GET", "POST"] },
    body: { type: "string", description: "The body of a POST, as JSON." },
    purpose: { type: "string", maxLength: 140, description: "What the payment is for. A person who is asked reads it." },
  },
  required: ["url"],
  additionalProperties: false,
});

/**
 * A tool of the Vercel AI SDK that fetches paid URLs under the mandate. If a request or a payment fails, the tool does not
 * throw, but returns a result with `error`, `message` and, except for a refused host, `nextActions`. It throws only if the call
 * is aborted, or if `operation` throws.
 */
export const paidFetch = (
  pay: Countersign,
  { hosts, operation, maxCharacters = 100_000 }: PaidFetchOptions,
): Tool<PaidFetchInput, Readonly<Record<string, unknown>>> =>
  tool({
    description:
      "Fetches an address and pays if it asks for payment, within the limits that a person set. Do not repeat a call that was denied or declined.",
    inputSchema,
    execute: async ({ url, method = "GET", body, purpose }, { toolCallId, abortSignal }) => {
      const { host } = URL.canParse(url) ? new URL(url) : { host: "" };
      if (!hosts.includes(host))
        return { error: "HostRefused", message: `You may call ${hosts.join(", ")}, and not ${host || url}.` };
      const content = body !== undefined && { body, headers: { "content-type": "application/json" } };
      const request = { method, ...content, redirect: "error", ...(abortSignal && { signal: abortSignal }) } as const;
      const name = operation?.({ url, toolCallId });
      const named = { ...(name !== undefined && { operation: name }), ...(purpose !== undefined && { purpose }) };
      try {
        const answer = await pay.fetch(url, { ...request, ...named });
        // A character has at most three bytes for each of its UTF-16 units.
        const { text: whole, cut } = await textOf(answer, { bytes: maxCharacters * 3, milliseconds: ANSWER_MS });
        abortSignal?.throwIfAborted();
        const isCut = cut !== undefined || whole.length > maxCharacters;
        return { status: answer.status, body: whole.slice(0, maxCharacters), ...(isCut && { truncated: true }) };
      } catch (error) {
        abortSignal?.throwIfAborted();
        return factsOf(error);
      }
    },
  });
