import { Fragment, type ReactNode } from "react";

export function Pairs({ items }: { readonly items: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[7rem_minmax(0,1fr)] text-sm md:grid-cols-[9.5rem_minmax(0,1fr)]" data-pairs>
      {items.map(([name, value]) => (
        <Fragment key={name}>
          <dt className="min-w-0 border-t py-2 pr-4 text-muted first-of-type:border-t-0">{name}</dt>
          <dd className="min-w-0 border-t py-2 wrap-anywhere first-of-type:border-t-0">{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
