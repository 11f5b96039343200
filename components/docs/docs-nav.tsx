"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";

export type DocsChapter = {
  readonly title: string;
  readonly href?: string;
  readonly links: readonly (readonly [label: string, href: string])[];
};

export function DocsNav({ chapters, label }: { readonly chapters: readonly DocsChapter[]; readonly label: string }) {
  const path = usePathname();
  return (
    <nav aria-label={label} className="rail-groups">
      {chapters.map(({ title, href: chapter, links }) => (
        <div key={title}>
          <h2>
            {chapter === undefined ? (
              title
            ) : (
              <Link href={chapter} prefetch={false} aria-current={path === chapter ? "page" : undefined}>
                {title}
              </Link>
            )}
          </h2>
          <ul className="rail-nav">
            {links.map(([text, href]) => (
              <li key={href}>
                <Link href={href} prefetch={false} aria-current={path === href ? "page" : undefined}>
                  {text}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}
