import { globSync, readFileSync } from "node:fs";

/** What a test needs that starts a database, a chain, a server or another program, or a helper of test/ that may do so. */
const slow = /"(#test\/|node:child_process|#lib\/db\/embedded\.ts|(\.\.\/)+examples\/chain\.ts)|inject\(/;

/** The test files that only compute: `npm test -- --fast` runs them, without a cluster. */
export const fastFiles = (include: string): string[] =>
  globSync(include).filter((file) => !slow.test(readFileSync(file, "utf8")));
