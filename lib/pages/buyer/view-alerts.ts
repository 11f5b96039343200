import { DEFAULT_THRESHOLDS } from "#lib/alerts/budget-alerts.ts";
import { thresholdsOf } from "#lib/alerts/threshold-store.ts";
import { findMandate, reading, type Scope } from "#lib/mandates/store.ts";
import { notFound } from "#lib/problem.ts";

/** In percent. @throws Problem not_found for a mandate of another organization */
export const viewAlerts = (scope: Scope, mandateId: string): Promise<readonly number[]> =>
  reading(async (tx) => {
    if ((await findMandate(tx, scope, mandateId)) === null) throw notFound("mandate");
    return (await thresholdsOf(tx, [mandateId])).get(mandateId) ?? DEFAULT_THRESHOLDS;
  });
