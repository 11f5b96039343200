type Paid = {
  readonly seller: { readonly domain?: string | undefined; readonly name?: string | undefined };
  readonly payTo?: string | null | undefined;
};

/** The payee as we know it: the domain that was paid, or the address. */
export const payeeOf = ({ seller, payTo }: Paid): string => seller.domain ?? seller.name ?? payTo ?? "Seller that is not known";
