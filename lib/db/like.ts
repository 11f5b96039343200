const escaped = (text: string): string => text.replace(/[\\%_]/g, "\\$&");

export const contains = (text: string): string => `%${escaped(text)}%`;

/** For texts in lower case. */
export const startsWith = (text: string): string => `${escaped(text.toLowerCase())}%`;
