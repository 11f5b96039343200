import { CountersignError } from "./errors.ts";
import { parseJson as parse } from "./verify-receipt.ts";

/**
 * Parses JSON, and refuses two members of the same name. `subject` names the text in the error. verify-receipt.ts has a function
 * of its own without this package's errors, so that it can be copied alone.
 * @throws CountersignError
 */
export function parseJson(text: string, subject = "The text"): unknown {
  try {
    return parse(text);
  } catch (cause) {
    throw new CountersignError(`${subject} is not valid JSON: ${(cause as Error).message}`, { cause });
  }
}
