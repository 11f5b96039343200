import { Fragment, type ReactNode } from "react";

/** A description list in two columns: name and value. */
export function Pairs({ items }: { readonly items: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="pairs">
      {items.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
