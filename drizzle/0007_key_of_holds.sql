-- alone
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "changed_reservations_of_mandate" ON "changed_reservations" USING btree ("authorization_id","mandate_id");--> statement-breakpoint
ALTER TABLE "changed_reservations" VALIDATE CONSTRAINT "changed_reservations_sums";
