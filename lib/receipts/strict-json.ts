const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/** Whether a member occurs twice in an object of a valid JSON text. */
function repeatsMember(text: string): boolean {
  const open: Set<string>[] = [];
  let last = "";
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === "{" || token === "[") open.push(new Set());
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      const name = JSON.parse(last) as string;
      const names = open.at(-1);
      if (names?.has(name)) return true;
      names?.add(name);
    }
    last = token;
  }
  return false;
}

/**
 * Parses JSON in which no object has the same member twice. Otherwise two verifiers could keep different ones of the two and read different
 * receipts.
 * @throws SyntaxError
 */
export function parseStrictJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (repeatsMember(text)) throw new SyntaxError("A member occurs twice.");
  return value;
}

/** Like parseStrictJson, for text that must be an object. Null for any other text. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value = parseStrictJson(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
