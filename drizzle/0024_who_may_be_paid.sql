CREATE TABLE "pay_to_challenges" (
	"challenge_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"environment" text NOT NULL,
	"seller_id" text NOT NULL,
	"address" text NOT NULL,
	"chain" text NOT NULL,
	"text" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "pay_to_proofs" (
	"organization_id" text NOT NULL,
	"address" text NOT NULL,
	"chain" text NOT NULL,
	"method" text NOT NULL,
	"seller_id" text NOT NULL,
	"proven_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "pay_to_proofs_organization_id_address_chain_method_pk" PRIMARY KEY("organization_id","address","chain","method")
);
--> statement-breakpoint
CREATE TABLE "seen_offers" (
	"domain" text NOT NULL,
	"pay_to" text NOT NULL,
	"chain" text NOT NULL,
	"token_address" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"url" text NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "seen_offers_domain_pay_to_chain_token_address_amount_pk" PRIMARY KEY("domain","pay_to","chain","token_address","amount"),
	CONSTRAINT "seen_offers_amount" CHECK (amount >= 0 AND amount < 'NaN')
);
--> statement-breakpoint
CREATE TABLE "seller_stops" (
	"kind" text NOT NULL,
	"value" text NOT NULL,
	"seller_id" text NOT NULL,
	"proven" boolean NOT NULL,
	"subdomains" boolean NOT NULL,
	"base" text GENERATED ALWAYS AS (split_part(value, '.', -2) || '.' || split_part(value, '.', -1)) STORED,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "seller_stops_kind_value_seller_id_pk" PRIMARY KEY("kind","value","seller_id")
);
--> statement-breakpoint
CREATE INDEX "pay_to_challenges_of_organization" ON "pay_to_challenges" USING btree ("organization_id","expires_at");--> statement-breakpoint
CREATE INDEX "pay_to_challenges_old" ON "pay_to_challenges" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "pay_to_proofs_of_address" ON "pay_to_proofs" USING btree ("address");--> statement-breakpoint
CREATE INDEX "pay_to_proofs_of_seller" ON "pay_to_proofs" USING btree ("seller_id");--> statement-breakpoint
CREATE INDEX "seen_offers_newest" ON "seen_offers" USING btree ("domain","seen_at");--> statement-breakpoint
CREATE INDEX "seen_offers_old" ON "seen_offers" USING btree ("seen_at");--> statement-breakpoint
CREATE INDEX "seller_stops_base" ON "seller_stops" USING btree ("base");--> statement-breakpoint
-- What was stopped before reaches as far as what is stopped from now on. No address was proven yet.
INSERT INTO "seller_stops" ("kind", "value", "seller_id", "proven", "subdomains", "created_at")
  SELECT 'domain', "domain", "seller_id", "verified", true, "stopped_at" FROM "sellers" WHERE "stopped_at" IS NOT NULL
  UNION ALL SELECT 'domain', substr("domain", 5), "seller_id", "verified", false, "stopped_at" FROM "sellers"
    WHERE "stopped_at" IS NOT NULL AND "domain" LIKE 'www.%.%'
  UNION ALL SELECT DISTINCT 'address', r."pay_to", s."seller_id", false, false, s."stopped_at" FROM "sellers" s
    JOIN "resources" r ON r."seller_id" = s."seller_id" WHERE s."stopped_at" IS NOT NULL AND r."pay_to" IS NOT NULL;
--> statement-breakpoint
-- How a stop reaches a domain: 'proven', 'claimed', or null. The domain and every one above it is looked up, one by one.
CREATE FUNCTION stop_over_domain(domain text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN bool_or(s.proven) THEN 'proven' WHEN count(*) > 0 THEN 'claimed' END
  FROM (SELECT string_to_array(domain, '.') AS labels) h, generate_series(1, cardinality(h.labels)) n, LATERAL (
    SELECT t.proven FROM seller_stops t
    WHERE t.kind = 'domain' AND t.value = array_to_string(h.labels[n:], '.') AND (t.subdomains OR t.value = domain) OFFSET 0) s
$$;
--> statement-breakpoint
-- How a stop reaches an address in lower case. Whoever has signed for it is stopped by nobody's claim.
CREATE FUNCTION stop_over_address(address text, organization_id text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN bool_or(s.proven) THEN 'proven' WHEN count(*) > 0 THEN 'claimed' END FROM seller_stops s
  WHERE s.kind = 'address' AND s.value = stop_over_address.address AND (s.proven OR NOT EXISTS (
    SELECT FROM pay_to_proofs p WHERE p.address = s.value AND p.method = 'signature'
      AND p.organization_id = stop_over_address.organization_id))
$$;
