import { join } from "node:path";

/** The data directory of the tests' PostgreSQL: in the repository, or in memory if `npm test` has set TEST_DATA_DIR. */
export const testDataDir = (): string => process.env["TEST_DATA_DIR"] ?? join(import.meta.dirname, "../../.test");
