type Payee = {
  readonly seller: { readonly domain?: string | undefined; readonly name?: string | undefined };
  readonly payTo?: string | null | undefined;
};

/** The payee's domain, or else its name, its address, or words for an unknown seller. */
export const payeeOf = ({ seller, payTo }: Payee): string => seller.domain ?? seller.name ?? payTo ?? "Unknown seller";
