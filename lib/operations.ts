/** Every operation: the table of contents of the service. */
import type { Operation } from "#lib/http/operation.ts";
import * as mandates from "#lib/mandates/contract.ts";
import * as payments from "#lib/payments/contract.ts";

const byDomain = { ...payments, ...mandates };

/** By id, for the typed client and the tests. */
export const operations = byDomain;

export const operationList: readonly Operation[] = Object.values(byDomain);
