import { PageHeader } from "#components/ui/page-header.tsx";

type Props = {
  readonly title: string;
  /** What the page would show: "mandates". */
  readonly what: string;
  /** Who may see it: "Owners, admins, approvers, developers and viewers". */
  readonly who: string;
};

/** A page of the organization that this member's role does not show, and who can help. */
export const NotForRole = ({ title, what, who }: Props) => (
  <>
    <PageHeader title={title} />
    <div className="panel panel-body grid gap-2">
      <h2>Your role does not show {what}</h2>
      <p className="muted">{who} of the organization can see them. An owner or admin can change your role.</p>
    </div>
  </>
);
