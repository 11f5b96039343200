-- alone
-- Not in one transaction with the columns: what reads the view locks it before the table.
CREATE OR REPLACE VIEW reservations AS
  SELECT authorization_id, organization_id, mandate_id, status, amount, approval_key, buckets, expires_at, created_at, resolved_at,
    captured, released, refunded
  FROM changed_reservations
  UNION ALL
  SELECT authorization_id, organization_id, mandate_id, 'held', amount + buyer_share, NULL, buckets::json, expires_at, created_at, NULL,
    NULL, NULL, NULL
  FROM authorizations a WHERE held AND NOT EXISTS (
    SELECT FROM changed_reservations c WHERE c.authorization_id = a.authorization_id AND c.mandate_id = a.mandate_id);--> statement-breakpoint
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS "changed_reservations_of_mandate" ON "changed_reservations" USING btree ("authorization_id","mandate_id");--> statement-breakpoint
ALTER TABLE "changed_reservations" VALIDATE CONSTRAINT "changed_reservations_sums";
