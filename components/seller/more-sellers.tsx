import { Notice } from "#components/ui/notice.tsx";
import { SELLERS_SHOWN } from "#lib/pages/seller/view-sellers.ts";

export const MoreSellers = () => (
  <Notice>
    <p>
      This page shows the {SELLERS_SHOWN} oldest sellers of your organization. Use the operations <code>listSellers</code>,{" "}
      <code>verifySellerDomain</code> and <code>upsertPaidResource</code> for the others.
    </p>
  </Notice>
);
