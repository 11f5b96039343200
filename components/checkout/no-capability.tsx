import { Sheet } from "#components/shell/sheet.tsx";

export const NoCapability = () => (
  <Sheet>
    <div className="lapsed">
      <h1>Your role does not show payments that wait</h1>
      <p>
        Owners, admins and approvers of the organization can read and decide this request. Send one of them the address of this
        page, or ask an owner for the role of approver.
      </p>
    </div>
  </Sheet>
);
