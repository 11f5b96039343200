export type Answer = { readonly status: number; readonly text: string };

/**
 * What must be equal: not the number of the request in a refusal, the time at which the rest of a budget was computed, and the time
 * and the signature of receipts and checkpoints, which are signed for each request.
 */
const told = ({ status, text }: Answer): string =>
  `${status} ${text}`
    .replace(/"requestId":"[^"]+"/, "")
    .replace(/"at":"[^"]+"\}$/, "")
    .replace(/eyJ[\w-]+\.(eyJ[\w-]+)\.[\w-]+/g, (_, claims: string) =>
      Buffer.from(claims, "base64url")
        .toString()
        .replace(/"iat":\d+/, ""),
    );

/** A text without the words of a list that the list of the same name in an older text does not have. */
function withoutAdded(text: string, older: string, list: string): string {
  const words = new RegExp(`(?<="${list}":\\[)[^\\]]*`);
  const known = new Set(words.exec(older)?.[0].split(","));
  return text.replace(words, (all) =>
    all
      .split(",")
      .filter((word) => known.has(word))
      .join(),
  );
}

/** Two answers from a little before the place where they differ, or null if they are alike. The newer one may have more words in `set`. */
export function apart(older: Answer, newer: Answer, set?: string): string | null {
  const was = told(older);
  const is = set === undefined ? told(newer) : withoutAdded(told(newer), was, set);
  if (was === is) return null;
  const at = Math.max(0, [...was].findIndex((letter, place) => letter !== is[place]) - 100);
  return `${was.slice(at, at + 200)}\n  and ${is.slice(at, at + 200)}`;
}
