-- alone
CREATE OR REPLACE VIEW reservations AS
  SELECT authorization_id, organization_id, mandate_id, status, amount, approval_key, buckets, expires_at, created_at, resolved_at,
    captured, released, refunded
  FROM changed_reservations
  UNION ALL
  SELECT authorization_id, organization_id, mandate_id, 'held', coalesce(unit_amount, amount + buyer_share), NULL, buckets::json, expires_at,
    created_at, NULL, NULL, NULL, NULL
  FROM authorizations a WHERE held AND NOT EXISTS (
    SELECT FROM changed_reservations c WHERE c.authorization_id = a.authorization_id AND c.mandate_id = a.mandate_id);--> statement-breakpoint
CREATE OR REPLACE VIEW mandate_ledger AS
  SELECT ledger_id, organization_id, mandate_id, authorization_id, kind, amount, created_at FROM resolutions
  UNION ALL
  SELECT 'led' || substr(authorization_id, 4), organization_id, mandate_id, authorization_id, 'hold',
    coalesce(unit_amount, amount + buyer_share), created_at
  FROM authorizations WHERE held;--> statement-breakpoint
CREATE OR REPLACE VIEW audit_events AS
  SELECT chain, sequence, audit_event_id, type, actor_id, organization_id, subject_id, entity_type, entity_id,
    CASE WHEN commitments IS NULL THEN metadata ELSE (
      SELECT json_object_agg(m.key, m.value) FROM (
        SELECT key, value FROM json_each(metadata)
        UNION ALL
        SELECT c.key, coalesce(t.text::json, '"erased"') FROM json_each(commitments) c
        LEFT JOIN audit_texts t ON t.chain = e.chain AND t.sequence = e.sequence AND t.name = c.key) m) END AS metadata,
    hash, node, created_at, commitments,
    CASE WHEN commitments IS NOT NULL THEN (
      SELECT json_object_agg(t.name, encode(t.salt, 'hex')) FROM audit_texts t
      WHERE t.chain = e.chain AND t.sequence = e.sequence) END AS salts
  FROM audit_entries e
  UNION ALL
  SELECT organization_id, sequence, 'aud' || substr(authorization_id, 4),
    CASE outcome WHEN 'allow' THEN 'payment.authorized' WHEN 'deny' THEN 'payment.denied' ELSE 'payment.approvalRequired' END,
    coalesce(actor_id, subject_id), organization_id, subject_id, 'authorization', authorization_id,
    json_strip_nulls(json_build_object('amount', intent::json ->> 'amount', 'asset', asset, 'chain', chain, 'checkoutIntentId', checkout_intent_id,
      'denialCode', denial_code, 'intentId', intent_id, 'mandateId', mandate_id, 'policyDecisionId', 'pd' || substr(authorization_id, 4),
      'policyVersion', policy_version, 'requestId', request_id,
      'reservationId', CASE WHEN held THEN 'rsv' || substr(authorization_id, 4) END, 'sellerId', seller_id,
      -- With the 9 decimals of a unit, and without zeros at the end.
      'unitAmount', trim_scale(unit_amount * 0.000000001)::text, 'unitRate', unit_rate)),
    encode(hash, 'hex'), encode(node, 'hex'), created_at, NULL::json, NULL::json
  FROM authorizations;
