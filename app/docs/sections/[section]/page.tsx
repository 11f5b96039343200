import { notFound } from "next/navigation";
import { OperationsLedger } from "#components/docs/operations-ledger.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { chapterOf } from "#lib/pages/docs/reference.ts";

type Props = { readonly params: Promise<{ readonly section: string }> };

export async function generateMetadata({ params }: Props) {
  return { title: chapterOf((await params).section)?.tag ?? "Not found" };
}

export default async function SectionPage({ params }: Props) {
  const chapter = chapterOf((await params).section);
  if (!chapter) notFound();
  return (
    <>
      <PageHeader back={{ href: "/docs", label: "API reference" }} title={chapter.tag} description={chapter.description} />
      <section className="panel" aria-label="Operations">
        <OperationsLedger {...chapter} />
      </section>
    </>
  );
}
