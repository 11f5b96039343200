-- What an answer says besides its reasons stands in other columns of its row: the reasons alone are kept, as they were written. An intent is
-- read by this service alone, and json is read to its end by PostgreSQL for every row that is written.
ALTER TABLE "authorizations" RENAME COLUMN "answer" TO "reasons";--> statement-breakpoint
ALTER TABLE "authorizations"
  ALTER COLUMN "intent" SET DATA TYPE text,
  ALTER COLUMN "reasons" SET DATA TYPE text
    USING (replace("reasons", U&'\0010', '{"code":"satisfied","effect":"allow","rule":"')::json -> 'policyDecision' -> 'reasons')::text;
