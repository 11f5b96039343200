export const Or = ({ children }: { readonly children: string }) => (
  <p className="grid grid-cols-[1fr_auto_1fr] items-center gap-3 text-sm text-muted before:border-t after:border-t">{children}</p>
);
