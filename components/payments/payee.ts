type Payee = {
  readonly seller: { readonly domain?: string | undefined; readonly name?: string | undefined };
  readonly payTo?: string | null | undefined;
};

export const payeeOf = ({ seller, payTo }: Payee): string => seller.domain ?? seller.name ?? payTo ?? "Unknown seller";

const accounts = { iban: "IBAN", email: "Mail", account: "Account" } as const;

type Account = { readonly kind: keyof typeof accounts; readonly value: string };

/** Only a few characters of an account are stored. */
export const accountText = ({ kind, value }: Account): string => `${accounts[kind]} ${value}`;

type Resource = {
  readonly resourceId: string;
  readonly description?: string | undefined;
  readonly method?: string | undefined;
  readonly pathTemplate?: string | undefined;
};

/** What is bought, in untrusted text. A path with placeholders says nothing to a buyer. */
export const itemOf = ({ resourceId, description, method = "GET", pathTemplate }: Resource): string =>
  description ?? (pathTemplate === undefined || pathTemplate.includes("{") ? resourceId : `${method} ${pathTemplate}`);
