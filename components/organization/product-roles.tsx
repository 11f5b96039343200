import type { ComponentProps } from "react";
import { FieldError } from "#components/ui/field.tsx";
import type { ProductRole } from "#lib/vocabulary.ts";

const roles: readonly { readonly value: ProductRole; readonly name: string; readonly text: string }[] = [
  { value: "buyer", name: "Buy", text: "Let agents pay within mandates, and approve what is above your limits" },
  { value: "seller", name: "Sell", text: "Put a price on your API or shop, and get paid by agents" },
];

type FieldProps = ComponentProps<"input"> & { readonly error: string | undefined };
type Props = { readonly chosen: readonly ProductRole[]; readonly hint: string; readonly field: FieldProps };

export const ProductRoles = ({ chosen, hint, field: { error, ...control } }: Props) => (
  <fieldset {...(error !== undefined && { "aria-describedby": "roles-error" })}>
    <legend className="label">What will you do here?</legend>
    <div className="mt-2 grid grid-cols-1 gap-3 md:grid-cols-2">
      {roles.map(({ value, name, text }) => (
        <label
          className="relative grid cursor-pointer content-start gap-1 rounded-sm border border-border-strong p-4 text-sm has-checked:border-accent has-checked:bg-accent-wash has-checked:inset-ring has-checked:inset-ring-accent"
          key={value}
        >
          <input
            {...control}
            className="absolute top-4 right-4"
            type="checkbox"
            value={value}
            defaultChecked={chosen.includes(value)}
          />
          <strong className="pr-8 text-base font-semibold">{name}</strong>
          <span className="text-muted">{text}</span>
        </label>
      ))}
    </div>
    {error === undefined ? <p className="hint mt-2">{hint}</p> : <FieldError id="roles-error">{error}</FieldError>}
  </fieldset>
);
