import { NoAccess } from "#components/ui/no-access.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";

type Props = {
  readonly title: string;
  /** The page's content: "mandates". */
  readonly what: string;
  /** The roles that may see it: "Owners, admins, approvers, developers and viewers". */
  readonly who: string;
};

/** Replaces a page that the member's role may not see, and says who can help. */
export const NotForRole = ({ title, what, who }: Props) => (
  <>
    <PageHeader title={title} />
    <NoAccess title={`Your role does not show ${what}`}>
      {who} of the organization see them. Ask an owner or admin for another role.
    </NoAccess>
  </>
);
