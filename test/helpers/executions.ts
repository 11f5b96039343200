import { database } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import { newId } from "#lib/ids.ts";
import { activeMandate, authorize, createBuyer } from "#test/mandates.ts";

/** Inserts an execution with the status `unknown`, under a new buyer's authorization. */
export async function unknownExecution(change: Partial<typeof executions.$inferInsert> = {}) {
  const buyer = await createBuyer();
  const mandateId = await activeMandate(buyer.person.credential);
  const { authorizationId } = await authorize(buyer, mandateId);
  const executionId = newId("execution");
  const { organizationId, agent } = buyer;
  const whose = { organizationId, environment: "sandbox", subjectId: agent.serviceAccountId, mandateId };
  await database()
    .insert(executions)
    .values({
      ...whose,
      executionId,
      authorizationId,
      settlementMode: "facilitatorSettled",
      settlementStatus: "unknown",
      failureDetail: "No answer came.",
      nextCheckAt: new Date(Date.now() + 3_600_000),
      ...change,
    });
  return { buyer, executionId, authorizationId, mandateId, agentId: agent.serviceAccountId };
}
