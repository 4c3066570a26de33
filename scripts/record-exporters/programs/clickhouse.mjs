import { createClient } from '@clickhouse/client'
import { record, recorder } from './generation.mjs'

const client = createClient({
  url: recorder,
  username: 'writer',
  password: 'pass:word',
  database: 'default',
  application: 'sluice',
  compression: { request: true },
})
await client.insert({
  table: '`OPENROUTER_TRACES`',
  values: [{ GENERATION_ID: record.id, MODEL: record.model, PROMPT_TOKENS: record.usage.promptTokens }],
  format: 'JSONEachRow',
  clickhouse_settings: {
    async_insert: 1,
    wait_for_async_insert: 1,
    async_insert_deduplicate: 1,
    insert_deduplication_token: 'batch-1',
    date_time_input_format: 'best_effort',
    input_format_skip_unknown_fields: 1,
  },
})
await client.close()
