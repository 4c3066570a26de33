import { isObject } from '../core/json.ts'
import { usdOf } from '../core/money.ts'
import type { ExportContent } from '../exporters/record.ts'
import type { GenerationRow } from '../ledger/row.ts'
import type { RuleFacts } from './rules.ts'

/** What the rules of a destination are tested on, whether or not it is sent. Money is USD. */
export const factsOf = (row: GenerationRow, keyName: string): RuleFacts => ({
  model: row.model,
  provider: row.provider_slug,
  session_id: filled(row.session_id),
  user_id: filled(row.external_user),
  api_key_name: filled(keyName),
  finish_reason: row.finish_reason,
  total_cost: usdOf(row.cost_nano_usd),
  total_tokens: row.native_tokens_prompt + row.native_tokens_completion,
  prompt_tokens: row.native_tokens_prompt,
  completion_tokens: row.native_tokens_completion,
  input: null,
  output: null,
})

/** The same with the texts of the content. */
export const withTexts = (facts: RuleFacts, { input, output }: ExportContent): RuleFacts => ({
  ...facts,
  input: filled('prompt' in input ? input.prompt : textsIn(input.messages).join('\n')),
  output: filled(output.completion),
})

const filled = (text: string | null): string | null => (text === '' ? null : text)

/** Members that name something, and are not text of the conversation. */
const NAMES = new Set([
  'role',
  'type',
  'id',
  'tool_call_id',
  'call_id',
  'tool_use_id',
  'media_type',
  'detail',
])

/** Every text of a prompt, in order, in any dialect. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) => (NAMES.has(name) ? [] : textsIn(member)))
}
