-- Decisions are stored as findings; the sentences that were stored before cannot be read. Nothing was released with them.
DO $$ BEGIN
  IF EXISTS (SELECT FROM authorizations) THEN
    RAISE EXCEPTION 'This database is from a development version that stored decisions as text. Start with an empty database.';
  END IF;
END $$;--> statement-breakpoint
ALTER TABLE "authorizations" RENAME COLUMN "reasons" TO "findings";
