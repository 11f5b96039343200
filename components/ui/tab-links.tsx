import Link from "next/link";

type Item = { readonly href: string; readonly name: string; readonly current: boolean };

export function TabLinks({ label, items }: { readonly label: string; readonly items: readonly Item[] }) {
  return (
    <nav className="tabs" aria-label={label}>
      {items.map(({ href, name, current }) => (
        <Link key={href} href={href} prefetch={false} {...(current && { "aria-current": "page" })}>
          {name}
        </Link>
      ))}
    </nav>
  );
}
