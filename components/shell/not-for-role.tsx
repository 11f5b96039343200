import { NoAccess } from "#components/ui/no-access.tsx";
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
    <NoAccess title={`Your role does not show ${what}`}>
      {who} of the organization see them. Ask an owner or admin for another role.
    </NoAccess>
  </>
);
