import { join } from "node:path";

/** Where the tests' PostgreSQL keeps its data: in the repository, unless a whole run has a place in memory. */
export const testDataDir = (): string => process.env["TEST_DATA_DIR"] ?? join(import.meta.dirname, "../.test");
