/** What could turn or hide the text around it: direction controls, other control characters, letters of no width. */
const HIDDEN = /[\p{Cc}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]/gu;

/** Text that somebody else wrote, with what is hidden in it made visible. */
export const visible = (text: string): string => text.replace(HIDDEN, "\uFFFD");

/** Somebody else's words as a text node, whose direction ends where it ends. */
export const Untrusted = ({ children }: { readonly children: string }) => <bdi>{visible(children)}</bdi>;
