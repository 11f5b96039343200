type Props = { readonly method: string; readonly path: string };

/** The method and the path of a paid resource. */
export const RequestLine = ({ method, path }: Props) => (
  <>
    <span className="font-mono text-xs/5 font-semibold tracking-[0.01em] text-muted">{method}</span> <code>{path}</code>
  </>
);
