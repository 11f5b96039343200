ALTER TABLE "changed_reservations" ADD COLUMN "captured" numeric(78,0);--> statement-breakpoint
ALTER TABLE "changed_reservations" ADD COLUMN "released" numeric(78,0);--> statement-breakpoint
ALTER TABLE "changed_reservations" ADD COLUMN "refunded" numeric(78,0);--> statement-breakpoint
-- Something is open exactly while the status says so. NaN, which counts as larger than every number, is refused by the sum.
ALTER TABLE "changed_reservations" ADD CONSTRAINT "changed_reservations_sums" CHECK (num_nulls(captured, released, refunded) = 3 OR coalesce(captured >= 0 AND released >= 0 AND refunded BETWEEN 0 AND captured
  AND captured + released <= amount AND (captured + released < amount) = (status IN ('held', 'submitted')), false)) NOT VALID;
