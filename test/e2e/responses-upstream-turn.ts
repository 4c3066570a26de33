/** The turn of the fixture `thinking-tools`: its tools, their results, and the items that are sent back. */

export const tools = ['tide_at', 'list_ports'].map((name) => ({ type: 'function', function: { name } }))
export const RESULTS = ['call_a', 'call_b'].map((id) => ({
  role: 'tool',
  tool_call_id: id,
  content: `done ${id}`,
}))

/** Its reasoning, as it is replayed. */
export const REASONING = {
  type: 'reasoning',
  id: 'rs_3',
  summary: [
    { type: 'summary_text', text: 'Two tides' },
    { type: 'summary_text', text: ', so two calls.' },
  ],
  encrypted_content: 'c2VhbGVkLXRob3VnaHQ=',
}

export const REPLAYED = [
  { role: 'user', content: 'Hello' },
  REASONING,
  { role: 'assistant', content: 'I look it up.' },
  { type: 'function_call', call_id: 'call_a', name: 'tide_at', arguments: '{"port":"Büsum","day":1}' },
  { type: 'function_call', call_id: 'call_b', name: 'list_ports', arguments: '{}' },
  ...RESULTS.map(({ tool_call_id: call_id, content }) => ({
    type: 'function_call_output',
    call_id,
    output: content,
  })),
]
