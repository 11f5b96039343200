import type { AskedIntent } from "#lib/payments/intent.ts";
import type { Problem } from "#lib/problem.ts";
import type { Environment } from "#lib/vocabulary.ts";

/** Who asked, as far as it must be read again under the gate. */
export type Asker =
  | { readonly kind: "key"; readonly subjectId: string; readonly keyId: string }
  | { readonly kind: "session"; readonly subjectId: string; readonly sessionId: string };

/** One request on its way through a list. */
export type Item = {
  readonly slot: string;
  readonly fingerprint: string;
  readonly idempotencyKey: string;
  readonly organizationId: string;
  readonly environment: Environment;
  readonly asker: Asker;
  readonly mandateId: string;
  readonly intent: AskedIntent;
  readonly requestId: string;
};

/** Bytes to send (fresh or stored before), or a refusal. */
export type Answer =
  | { readonly kind: "reply"; readonly status: number; readonly body: string; readonly replayed: boolean }
  | { readonly kind: "problem"; readonly problem: Problem };

export const refusal = (problem: Problem): Answer => ({ kind: "problem", problem });
