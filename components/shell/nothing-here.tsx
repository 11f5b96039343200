import { buttonClass } from "#components/ui/button-class.ts";

/** Pages of other organizations get the same text, so that it does not reveal whether they exist. */
export const NothingHere = () => (
  <>
    <h1>There is no page here</h1>
    <p>
      The address may be misspelled, the page may have moved, or it belongs to an organization that is not the active one of your
      session.
    </p>
    <div className="actions">
      <a className={buttonClass({ tone: "primary" })} href="/">
        Go to the start page
      </a>
    </div>
  </>
);

export const NothingInFrame = () => (
  <div className="panel panel-body grid justify-items-start gap-4">
    <NothingHere />
  </div>
);

export const metadata = { title: "Not found" };
