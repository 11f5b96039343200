const escaped = (text: string): string => text.replace(/[\\%_]/g, "\\$&");

/** A LIKE pattern for texts that contain this text. Its wildcards % and _ are escaped. */
export const contains = (text: string): string => `%${escaped(text)}%`;

/** A LIKE pattern for texts in lower case that begin with this text. Its wildcards % and _ are escaped. */
export const startsWith = (text: string): string => `${escaped(text.toLowerCase())}%`;
