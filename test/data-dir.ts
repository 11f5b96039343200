import { join } from "node:path";

/** Data directory of the tests' PostgreSQL: in the repository, or in memory during a whole run. */
export const testDataDir = (): string => process.env["TEST_DATA_DIR"] ?? join(import.meta.dirname, "../.test");
