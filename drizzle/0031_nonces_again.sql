DROP INDEX "relayed_transactions_nonce";--> statement-breakpoint
CREATE INDEX "relayed_transactions_of_signer" ON "relayed_transactions" USING btree ("chain","signer","nonce") WHERE nonce IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "relayed_transactions_nonce" ON "relayed_transactions" USING btree ("chain","signer","nonce") WHERE status = 'sent';