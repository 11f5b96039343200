ALTER TABLE "authorizations" ADD COLUMN "unit_amount" numeric(78,0);--> statement-breakpoint
ALTER TABLE "authorizations" ADD COLUMN "unit_rate" text;
