/**
 * Characters that can hide the text around them or change its direction: direction controls, other control characters, tag
 * characters, and zero-width characters except the joiners U+200C and U+200D.
 */
const HIDDEN = /[\p{Cc}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]/gu;

/** Untrusted text, in which a visible sign replaces each hidden character. */
export const visible = (text: string): string => text.replace(HIDDEN, "\uFFFD");

/** Shows untrusted text. The direction of its letters does not affect the text around it. */
export const Untrusted = ({ children }: { readonly children: string }) => <bdi>{visible(children)}</bdi>;
