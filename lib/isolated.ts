/** Characters that set or end a direction of text. */
const DIRECTION = /[\u202A-\u202E\u2066-\u2069]/gu;

/** Foreign text for a sentence: between U+2068 and U+2069, text from right to left leaves the order of the sentence alone. */
export const isolated = (text: string): string => `\u2068${text.replaceAll(DIRECTION, "\uFFFD")}\u2069`;
