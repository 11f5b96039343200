/**
 * What a decision says of each rule that is kept, by one control character: JSON has none of its own. A fifth of an answer is this.
 * Rows are written with it, so phrases may come, and none may change or go away.
 */
const phrases = [['{"code":"satisfied","effect":"allow","rule":"', "\u0010"]] as const;

/** The text of an answer as it is stored. Two rows of usual length fit a page, and PostgreSQL need not compress them. */
export function shorten(answer: string): string {
  let stored = answer;
  for (const [phrase, sign] of phrases) stored = stored.replaceAll(phrase, sign);
  return stored;
}

/** The bytes that were answered. Rows of before have no signs. */
export function lengthen(stored: string): string {
  let answer = stored;
  for (const [phrase, sign] of phrases) answer = answer.replaceAll(sign, phrase);
  return answer;
}
