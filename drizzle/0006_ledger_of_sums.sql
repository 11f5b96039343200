ALTER TABLE "changed_reservations" ADD COLUMN "captured" numeric(78,0);--> statement-breakpoint
ALTER TABLE "changed_reservations" ADD COLUMN "released" numeric(78,0);--> statement-breakpoint
ALTER TABLE "changed_reservations" ADD COLUMN "refunded" numeric(78,0);--> statement-breakpoint
-- Something is open exactly while the status says so. NaN, which counts as larger than every number, is refused by the sum.
ALTER TABLE "changed_reservations" ADD CONSTRAINT "changed_reservations_sums" CHECK (num_nulls(captured, released, refunded) = 3 OR coalesce(captured >= 0 AND released >= 0 AND refunded BETWEEN 0 AND captured
  AND captured + released <= amount AND (captured + released < amount) = (status IN ('held', 'submitted')), false)) NOT VALID;--> statement-breakpoint
CREATE OR REPLACE VIEW reservations AS
  SELECT authorization_id, organization_id, mandate_id, status, amount, approval_key, buckets, expires_at, created_at, resolved_at,
    captured, released, refunded
  FROM changed_reservations
  UNION ALL
  SELECT authorization_id, organization_id, mandate_id, 'held', amount + buyer_share, NULL, buckets::json, expires_at, created_at, NULL,
    NULL, NULL, NULL
  FROM authorizations a WHERE held AND NOT EXISTS (
    SELECT FROM changed_reservations c WHERE c.authorization_id = a.authorization_id AND c.mandate_id = a.mandate_id);
