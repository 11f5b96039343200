import type { ServerConnection } from "#lib/db/connection.ts";
import { connectionLost, OutcomeUnknown } from "#lib/db/failure.ts";
import { noteWrite } from "#lib/db/request.ts";

/** Checks the answer, because PostgreSQL answers ROLLBACK if the transaction was aborted. */
export async function commit(connection: ServerConnection, send: () => PromiseLike<{ readonly command: string }>): Promise<void> {
  // The connection had ended before, so COMMIT was not sent.
  if (connection.ended) throw connection.ended;
  noteWrite();
  try {
    const { command } = await send();
    if (command !== "ROLLBACK") return;
  } catch (error) {
    // The connection ended after COMMIT was sent, so it is unknown whether PostgreSQL carried it out.
    if (connection.ended || connectionLost(error))
      throw new OutcomeUnknown("COMMIT was sent and not answered.", { cause: error });
    throw error;
  }
  throw connection.failure ?? new Error("PostgreSQL rolled a transaction back.");
}
