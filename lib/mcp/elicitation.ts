import { createHmac } from "node:crypto";
import type { InputRequiredResult, RequestStateCodec, ServerContext } from "@modelcontextprotocol/server";
import { CLIENT_CAPABILITIES_META_KEY, createRequestStateCodec, inputRequired } from "@modelcontextprotocol/server";
import { z } from "zod";
import { env } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";

/** The state of a call that waits for a person, which the client sends back. It belongs to one round of one purchase. */
export const WaitState = z.strictObject({
  slot: z.string(),
  purchaseKey: z.string(),
  /** When the purchase was created, in milliseconds. */
  createdAt: z.int(),
  round: z.int(),
  calls: z.int(),
});
export type WaitState = z.output<typeof WaitState>;

export type Elicitation = {
  readonly showsUrl: boolean;
  /** The state that a repeated call sent back, after it was verified; null for a first call. */
  readonly state: WaitState | null;
  /** Whether the person closed the question in the client. This does not refuse the payment. */
  readonly closed: boolean;
  readonly ask: (
    wait: WaitState,
    page: { readonly url: string; readonly message: string } | null,
  ) => Promise<InputRequiredResult>;
};

/** In protocol 2026-07-28 each request contains the capabilities of its client. */
const ShowsUrl = z.looseObject({ elicitation: z.looseObject({ url: z.looseObject({}) }) });

const STATE_SECONDS = 3_600;
const QUESTION = "approval";

/** The agent to which a state belongs; a state of another agent is refused. */
const boundTo = ({ http }: ServerContext): string => http?.authInfo?.clientId ?? "";

export const stateCodec = (): RequestStateCodec =>
  perProcess("mcp/elicitation", () => {
    const key = createHmac("sha256", env().API_KEY_SECRET).update("countersign.mcp.state.v1").digest();
    return createRequestStateCodec({ key, ttlSeconds: STATE_SECONDS, bind: boundTo });
  });

/** The answer `accept` only means that the page was opened, so it does not count. */
function isClosed(responses: Readonly<Record<string, unknown>> | undefined): boolean {
  const answer = responses?.[QUESTION];
  const action = typeof answer === "object" && answer !== null && "action" in answer ? answer.action : null;
  return action === "decline" || action === "cancel";
}

export function elicitationOf(context: ServerContext): Elicitation {
  const { mcpReq } = context;
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  return {
    showsUrl: ShowsUrl.safeParse(envelope[CLIENT_CAPABILITIES_META_KEY]).success,
    state: WaitState.safeParse(mcpReq.requestState()).data ?? null,
    closed: isClosed(mcpReq.inputResponses),
    ask: async (wait, page) =>
      inputRequired({
        ...(page && { inputRequests: { [QUESTION]: inputRequired.elicitUrl(page) } }),
        requestState: await stateCodec().mint(wait, context),
      }),
  };
}
