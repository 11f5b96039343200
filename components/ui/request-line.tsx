type Props = { readonly method: string; readonly path: string };

export const RequestLine = ({ method, path }: Props) => (
  <>
    <span className="font-mono text-xs/5 font-semibold tracking-[0.01em] text-muted">{method}</span> <code>{path}</code>
  </>
);
