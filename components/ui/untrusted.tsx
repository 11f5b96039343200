import { visible } from "#lib/visible-text.ts";

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
