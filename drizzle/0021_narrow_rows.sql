-- Rows of up to half a page stay whole: compressing them and moving a part to another table took longer than all their indexes.
ALTER TABLE "authorizations" SET (toast_tuple_target = 4080);--> statement-breakpoint
DROP INDEX "reservations_of_authorization";--> statement-breakpoint
DROP INDEX "mandate_ledger_of_mandate";--> statement-breakpoint
ALTER TABLE "mandate_ledger" DROP CONSTRAINT "mandate_ledger_pkey";--> statement-breakpoint
ALTER TABLE "mandate_ledger" ADD CONSTRAINT "mandate_ledger_of_mandate" PRIMARY KEY("mandate_id","ledger_id");
