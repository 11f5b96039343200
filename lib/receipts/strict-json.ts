const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/** Whether an object in a valid JSON text has the same member twice. */
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

/** Refuses a repeated member, because two programs could read different receipts from the same text. @throws SyntaxError */
export function parseStrictJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (repeatsMember(text)) throw new SyntaxError("A member occurs twice.");
  return value;
}

/** Like parseStrictJson, for text that must be an object. Returns null for any other text and throws nothing. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value = parseStrictJson(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
