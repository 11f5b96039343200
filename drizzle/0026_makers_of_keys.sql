ALTER TABLE "api_keys" ADD COLUMN "created_by" text;--> statement-breakpoint
UPDATE "api_keys" AS k SET "created_by" = e."actor_id" FROM "audit_events" AS e
WHERE k."revoked_at" IS NULL AND e."type" = 'serviceAccount.rotated'
  AND e."entity_id" = k."service_account_id" AND e."metadata" ->> 'keyId' = k."key_id";
