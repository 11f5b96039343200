import { NothingHere } from "#components/shell/nothing-here.tsx";

export const metadata = { title: "Not found" };

export default function NotFoundPage() {
  return (
    <div className="panel panel-body grid justify-items-start gap-4">
      <NothingHere />
    </div>
  );
}
