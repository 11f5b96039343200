DROP INDEX "waivers_of_basket";--> statement-breakpoint
CREATE INDEX "waivers_open" ON "waivers" USING btree ("mandate_id","expires_at") WHERE used_by_authorization_id IS NULL;
