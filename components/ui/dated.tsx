import { Moment } from "./moment.tsx";
import { Untrusted } from "./untrusted.tsx";

const TIME = /^(.*?)(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)(.*)$/s;

/** Shows untrusted text. A time of the API in it, such as 2026-11-21T12:00:00.000Z, is shown in the reader's time zone. */
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
