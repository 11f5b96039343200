DROP INDEX "registration_slots_of_authorization";--> statement-breakpoint
CREATE INDEX "registration_slots_due" ON "registration_slots" USING btree ("valid_before") WHERE status = 'held';--> statement-breakpoint
CREATE UNIQUE INDEX "registration_slots_of_authorization" ON "registration_slots" USING btree ("authorization_id") WHERE status = 'held';