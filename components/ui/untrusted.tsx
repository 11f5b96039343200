/** Control characters, and some that are invisible or change the direction of text. The joiners U+200C and U+200D stay. */
const HIDDEN = /[\p{Cc}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF\u{E0000}-\u{E007F}]/gu;

export const visible = (text: string): string => text.replace(HIDDEN, "\uFFFD");

/** In a `bdi` element, the direction of the untrusted text does not affect the text around the element. */
export const Untrusted = ({ children }: { readonly children: string }) => <bdi>{visible(children)}</bdi>;

/** A sentence of this service. The foreign texts in it are marked by `isolated`. */
export function Isolated({ children }: { readonly children: string }) {
  const [, before, foreign, after] = /^(.*?)\u2068([^\u2069]*)\u2069(.*)$/su.exec(children) ?? [];
  if (before === undefined || foreign === undefined || after === undefined) return visible(children);
  return (
    <>
      {visible(before)}
      <Untrusted>{foreign}</Untrusted>
      <Isolated>{after}</Isolated>
    </>
  );
}
