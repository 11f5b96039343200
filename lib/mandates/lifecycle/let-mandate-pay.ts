import { letThrough } from "#lib/approvals/decision/let-through.ts";
import type { Tx } from "#lib/db/client.ts";
import type { Prover } from "#lib/identity/passkeys/fresh-proof.ts";
import { compilePolicy } from "#lib/mandates/policy/compile-policy.ts";
import { decimalsOf } from "#lib/mandates/check-terms.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import type { MandateRow } from "#lib/mandates/present-mandate.ts";
import { reachOf } from "#lib/mandates/lifecycle/reach.ts";
import type { Environment } from "#lib/vocabulary.ts";

/** Call this before a mandate gets into force, or may pay more. `terms` has what the mandate then allows. */
export async function letMandatePay(tx: Tx, by: Prover, mandate: MandateRow, policy: Policy, terms: unknown): Promise<void> {
  const { organizationId, environment, mandateId, asset, chain } = mandate;
  const decimals = decimalsOf(mandate);
  const compiled = compilePolicy(policy, decimals);
  await letThrough(tx, by, {
    organizationId,
    environment: environment as Environment,
    subjectId: mandateId,
    sellerId: null,
    asset,
    chain,
    decimals,
    amount: reachOf(compiled),
    verified: compiled.requireVerifiedSeller,
    terms,
  });
}
