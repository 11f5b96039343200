// Verifies the receipt in a file with the published keys in another file. The verifier is sdk/src/verify-receipt.ts: copy it, or
// port it.
import { readFile } from "node:fs/promises";
import { parseJson, verifyReceipt, type Verdict } from "../sdk/src/verify-receipt.ts";

const files = process.argv.slice(2, 4).map(async (file) => parseJson(await readFile(file, "utf8")));
const unreadable = (error: Error): Verdict => ({ ok: false, step: "receipt", detail: error.message });
const { ok, step, detail } = await Promise.all(files).then(([answer, jwks]) => verifyReceipt(answer, jwks), unreadable);
console.log(ok ? detail : `The step ${step} fails: ${detail}`);
process.exitCode = ok ? 0 : 1;
