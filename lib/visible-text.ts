/**
 * Characters that are invisible, control a terminal or change the direction of text. The joiners U+200C and U+200D and the
 * selectors of emoji and Mongolian letters stay, because words need them.
 */
const HIDDEN = /(?!\u200C|\u200D|\uFE0E|\uFE0F|[\u180B-\u180F])[\p{Cc}\p{DI}\p{Co}\p{Cs}\p{Zl}\p{Zp}\uFFF9-\uFFFB]/gu;
/** The same, but tabs and line breaks stay. */
const HIDDEN_IN_LINES = new RegExp(`(?![\\t\\n\\r])${HIDDEN.source}`, "gu");

const REPLACEMENT = "\uFFFD";

/** Foreign text for one line of a page or a message. */
export const visible = (text: string): string => text.replace(HIDDEN, REPLACEMENT);

export const visibleLines = (text: string): string => text.replace(HIDDEN_IN_LINES, REPLACEMENT);

/** The same for all texts in JSON, also for names of fields. */
export function visibleJson<T>(value: T): T {
  const clean = (one: unknown): unknown => {
    if (typeof one === "string") return visibleLines(one);
    if (Array.isArray(one)) return one.map(clean);
    if (typeof one !== "object" || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([name, field]) => [visibleLines(name), clean(field)]));
  };
  return clean(value) as T;
}
