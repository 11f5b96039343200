DROP INDEX "reservations_due";--> statement-breakpoint
CREATE INDEX "reservations_due" ON "reservations" USING btree ("expires_at") WHERE status = 'held' AND resolved_at IS NULL;