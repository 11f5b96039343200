import { Notice } from "#components/ui/notice.tsx";
import { SELLERS_SHOWN } from "#lib/pages/view-sellers.ts";

/** Says that the organization has more sellers than a page shows, and how to reach the others. */
export const MoreSellers = () => (
  <Notice>
    <p>
      This page shows the {SELLERS_SHOWN} oldest sellers of your organization. Use the operations <code>listSellers</code>,{" "}
      <code>verifySellerDomain</code> and <code>upsertPaidResource</code> for the others.
    </p>
  </Notice>
);
