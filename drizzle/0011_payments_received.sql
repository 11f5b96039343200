ALTER TABLE "executions" ADD COLUMN "seller_organization_id" text;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "seller_id" text;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "resource_id" text;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "amount" numeric(78,0);--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "asset" text;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "chain" text;--> statement-breakpoint
ALTER TABLE "plain_settlements" ADD COLUMN "seller_id" text;--> statement-breakpoint
ALTER TABLE "plain_settlements" ADD COLUMN "resource_id" text;--> statement-breakpoint
UPDATE executions e SET seller_organization_id = a.seller_organization_id, seller_id = a.seller_id,
  resource_id = a.resource_id, amount = a.amount, asset = a.asset, chain = a.chain
  FROM authorizations a WHERE a.authorization_id = e.authorization_id AND e.nonce IS NOT NULL;--> statement-breakpoint
CREATE INDEX "executions_received" ON "executions" USING btree ("seller_organization_id","execution_id") WHERE seller_organization_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX "executions_revenue" ON "executions" USING btree ("seller_organization_id","resolved_at") WHERE seller_organization_id IS NOT NULL AND settlement_status = 'settled';--> statement-breakpoint
CREATE INDEX "plain_settlements_revenue" ON "plain_settlements" USING btree ("organization_id","resolved_at") WHERE status = 'settled';