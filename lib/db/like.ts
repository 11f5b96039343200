const escaped = (text: string): string => text.replace(/[\\%_]/g, "\\$&");

export const contains = (text: string): string => `%${escaped(text)}%`;

/** A pattern for columns whose texts are in lower case. */
export const startsWith = (text: string): string => `${escaped(text.toLowerCase())}%`;
