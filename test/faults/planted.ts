/** Wrong states that a defect of the service could leave, each as the SQL that makes it. The oracle must find every one. */
export const planted: Readonly<Record<string, string>> = {
  "a hold is removed": `DELETE FROM changed_reservations WHERE authorization_id = (
    SELECT authorization_id FROM executions WHERE settlement_status = 'settled' LIMIT 1)`,
  "an amount is changed": `UPDATE authorizations SET amount = amount * 2 WHERE authorization_id = (
    SELECT authorization_id FROM authorizations WHERE held LIMIT 1)`,
  "a bucket is counted twice": `UPDATE usage_buckets SET reserved = 2 * reserved + spent, ceiling = NULL WHERE (mandate_id, window_key, start) = (
    SELECT mandate_id, window_key, start FROM usage_buckets WHERE payments > 0 LIMIT 1)`,
  "a mandate forgets what was spent": `UPDATE mandates SET spent = 0 WHERE mandate_id = (
    SELECT mandate_id FROM mandates WHERE spent > 0 LIMIT 1)`,
  "one payment more than a total allows": `UPDATE mandate_versions SET policy = jsonb_set(policy::jsonb, '{limits,total}', '"0.01"')::json
    WHERE mandate_id = (SELECT mandate_id FROM authorizations WHERE held AND policy_version = 1 GROUP BY 1 HAVING count(*) BETWEEN 2 AND 900 LIMIT 1)`,
  "a payment settles twice": `INSERT INTO executions
    SELECT (jsonb_populate_record(e, jsonb_build_object('execution_id', 'exe_planted', 'slot', 'planted', 'nonce', 'planted'))).* FROM executions e
    WHERE settlement_status = 'settled' LIMIT 1`,
  "a settlement is lost": `UPDATE executions SET settlement_status = 'failed' WHERE execution_id = (
    SELECT execution_id FROM executions WHERE settlement_status = 'settled' LIMIT 1)`,
  "an acknowledged payment is lost": `UPDATE authorizations SET outcome = 'deny' WHERE authorization_id = (
    SELECT authorization_id FROM authorizations WHERE outcome = 'allow' LIMIT 1)`,
  "a payment under a revoked mandate": `UPDATE audit_entries c SET type = 'mandate.revoked', entity_id = (
      SELECT a.mandate_id FROM authorizations a WHERE a.outcome = 'allow' AND a.organization_id = c.chain ORDER BY a.sequence DESC LIMIT 1)
    WHERE (c.chain, c.sequence) = (SELECT e.chain, e.sequence FROM audit_entries e JOIN authorizations a
      ON a.organization_id = e.chain AND a.outcome = 'allow' AND a.sequence > e.sequence LIMIT 1)`,
  "an event is changed": `UPDATE audit_entries SET metadata = '{"version": 7}' WHERE (chain, sequence) = (
    SELECT chain, sequence FROM audit_entries WHERE type LIKE 'mandate.%' LIMIT 1)`,
  "the last event of a log is removed": `DELETE FROM audit_entries e USING audit_heads h WHERE h.chain = e.chain AND h.sequence = e.sequence`,
  "an entry of the ledger is removed": `DELETE FROM resolutions WHERE ledger_id = (SELECT ledger_id FROM resolutions LIMIT 1)`,
};
