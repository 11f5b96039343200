import { stepUp } from "#lib/approvals/decision/contract.ts";
import { call, type CallOptions } from "#lib/http/client.ts";

/** The same options, for a person who types the password if the service asks for a proof of one act. */
export const proving = (password: string, options: CallOptions): CallOptions => ({
  ...options,
  prove: async ({ nextActions }) => {
    const act = nextActions[0]?.metadata?.["act"] as { subjectId: string; terms: string };
    await call(stepUp, { body: { act, password } }, options);
    return true;
  },
});
