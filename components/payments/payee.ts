type Payee = {
  readonly seller: { readonly domain?: string | undefined; readonly name?: string | undefined };
  readonly payTo?: string | null | undefined;
};

export const payeeOf = ({ seller, payTo }: Payee): string => seller.domain ?? seller.name ?? payTo ?? "Unknown seller";
