import { NoAccess } from "#components/ui/no-access.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";

type Props = {
  readonly title: string;
  /** What the page shows: "mandates". */
  readonly what: string;
  /** The roles that may see it: "Owners, admins, approvers, developers and viewers". */
  readonly who: string;
};

export const NotForRole = ({ title, what, who }: Props) => (
  <>
    <PageHeader title={title} />
    <NoAccess title={`Your role does not show ${what}`}>
      {who} see {what}. Ask an owner or admin of the organization for another role.
    </NoAccess>
  </>
);
