import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import type * as contract from "#lib/payments/contract.ts";
import { authorizationOf, findExecution } from "#lib/holds/execution-store.ts";
import { presentExecution } from "#lib/payments/present-execution.ts";
import { notFound } from "#lib/problem.ts";

export const getExecution: Handler<typeof contract.getExecution> = async ({ executionId }, { caller }) => {
  const row = await findExecution(database(), caller, executionId);
  if (!row) throw notFound("execution");
  const { intent } = await authorizationOf(database(), row);
  return presentExecution(row, intent, caller.subjectId);
};
