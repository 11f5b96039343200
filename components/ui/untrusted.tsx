/** Characters that can reverse or hide the surrounding text: direction controls, other control characters, zero-width characters. */
const HIDDEN = /[\p{Cc}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]/gu;

/** Untrusted text with its hidden characters made visible. */
export const visible = (text: string): string => text.replace(HIDDEN, "\uFFFD");

/** Untrusted text as a text node. Its text direction does not affect the text around it. */
export const Untrusted = ({ children }: { readonly children: string }) => <bdi>{visible(children)}</bdi>;
