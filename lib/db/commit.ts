import type { Connection } from "#lib/db/connection.ts";
import { connectionLost, OutcomeUnknown } from "#lib/db/failure.ts";
import { noteWrite } from "#lib/db/request.ts";

/** Sends COMMIT and checks its answer: PostgreSQL answers ROLLBACK for an aborted transaction. */
export async function commit(connection: Connection, send: () => PromiseLike<{ readonly command: string }>): Promise<void> {
  // Then COMMIT cannot have been sent.
  if (connection.ended) throw connection.ended;
  noteWrite();
  try {
    const { command } = await send();
    if (command !== "ROLLBACK") return;
  } catch (error) {
    // If the error ended the connection, the outcome of the COMMIT is unknown.
    if (connection.ended || connectionLost(error))
      throw new OutcomeUnknown("COMMIT was sent and not answered.", { cause: error });
    throw error;
  }
  throw connection.failure ?? new Error("PostgreSQL rolled a transaction back.");
}
