import { buttonClass } from "#components/ui/button-class.ts";

/** What is said of a page that is not there. One that belongs to somebody else reads the same. */
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
