import { Moment } from "./moment.tsx";
import { Untrusted } from "./untrusted.tsx";

const TIME = /^(.*?)(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)(.*)$/s;

/** Untrusted text in which times of the API, such as 2026-11-21T12:00:00.000Z, are shown in the reader's form. */
export function Dated({ children }: { readonly children: string }) {
  const [, before, at, after] = TIME.exec(children) ?? [];
  if (before === undefined || at === undefined || after === undefined) return <Untrusted>{children}</Untrusted>;
  const isTime = !Number.isNaN(Date.parse(at));
  return (
    <>
      <Untrusted>{before}</Untrusted>
      {isTime ? <Moment at={at} show="minute" /> : <Untrusted>{at}</Untrusted>}
      <Dated>{after}</Dated>
    </>
  );
}
