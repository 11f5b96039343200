export const RequestLine = ({ method, path }: { readonly method: string; readonly path: string }) => (
  <>
    <span className="font-mono text-xs/5 font-semibold tracking-[0.01em] text-muted">{method}</span> <code>{path}</code>
  </>
);
