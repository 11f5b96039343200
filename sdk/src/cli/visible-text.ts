/** Characters that are invisible, control a terminal or change the direction of text; the same as in answers of the service. */
const HIDDEN = /(?![\t\n\r])(?!\u200C|\u200D|\uFE0E|\uFE0F|[\u180B-\u180F])[\p{Cc}\p{DI}\p{Co}\p{Cs}\p{Zl}\p{Zp}\uFFF9-\uFFFB]/gu;

export const visibleLines = (text: string): string => text.replace(HIDDEN, "\uFFFD");
