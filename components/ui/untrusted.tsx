/** Control characters, and some that are invisible or change the direction of text. The joiners U+200C and U+200D stay. */
const HIDDEN = /[\p{Cc}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]/gu;

export const visible = (text: string): string => text.replace(HIDDEN, "\uFFFD");

/** In a `bdi` element, the direction of the untrusted text does not affect the text around the element. */
export const Untrusted = ({ children }: { readonly children: string }) => <bdi>{visible(children)}</bdi>;
