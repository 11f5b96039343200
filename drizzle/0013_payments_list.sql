ALTER TABLE "orders" ADD COLUMN "next_check_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "orders_of_authorization" ON "orders" USING btree ("authorization_id");--> statement-breakpoint
CREATE INDEX "orders_due" ON "orders" USING btree ("next_check_at") WHERE next_check_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "authorizations_not_allowed" ON "authorizations" USING btree ("organization_id","outcome","authorization_id") WHERE outcome <> 'allow';--> statement-breakpoint
CREATE INDEX "executions_of_status" ON "executions" USING btree ("organization_id","settlement_status","authorization_id");--> statement-breakpoint
CREATE INDEX "executions_of_reference" ON "executions" USING btree ("settlement_reference") WHERE settlement_reference IS NOT NULL;