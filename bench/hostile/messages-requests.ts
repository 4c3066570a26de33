import { PROVIDER_DIALECTS } from './chat-requests.ts'
import { schemas } from './schemas.ts'
import { API, fields, list, long, type Scale, type Shape } from './shape.ts'

const COUNT = 100_000

const blocks: Readonly<Record<string, { role: 'user' | 'assistant'; block(index: number): string }>> = {
  texts: { role: 'user', block: () => '{"type":"text","text":"hi"}' },
  'marked texts': {
    role: 'user',
    block: () => '{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}',
  },
  images: {
    role: 'user',
    block: () => '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}',
  },
  documents: {
    role: 'user',
    block: () => '{"type":"document","source":{"type":"text","media_type":"text/plain","data":"hi"}}',
  },
  results: {
    role: 'user',
    block: (index) => `{"type":"tool_result","tool_use_id":"toolu_${index}","content":"ok"}`,
  },
  'results and texts in turn': {
    role: 'user',
    block: (index) =>
      `{"type":"tool_result","tool_use_id":"toolu_${index}","content":"ok"},{"type":"text","text":"hi"}`,
  },
  uses: {
    role: 'assistant',
    block: (index) => `{"type":"tool_use","id":"toolu_${index}","name":"look","input":{}}`,
  },
  thoughts: {
    role: 'assistant',
    block: () => '{"type":"thinking","thinking":"so","signature":"abcd"}',
  },
  'hidden thoughts': { role: 'assistant', block: () => '{"type":"redacted_thinking","data":"abcd"}' },
  'server searches': {
    role: 'assistant',
    block: (index) =>
      `{"type":"server_tool_use","id":"srvtoolu_${index}","name":"web_search","input":{"query":"a"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_${index}","content":[]}`,
  },
  'unknown blocks': { role: 'assistant', block: () => '{"type":"something_else"}' },
}

const once: Readonly<Record<string, (scale: Scale) => string>> = {
  'system of 100,000 blocks': (scale) =>
    `"messages":[{"role":"user","content":"hi"}],"system":${list(scale, COUNT, () => '{"type":"text","text":"hi"}')}`,
  'a text of 20 MB': (scale) => `"messages":[{"role":"user","content":"${long(scale, 'word ')}"}]`,
  'a million unknown fields': (scale) =>
    `"messages":[{"role":"user","content":"hi"}],${fields(scale, 1_000_000)}`,
  '100,000 messages': (scale) =>
    `"messages":${list(scale, COUNT, (index) => `{"role":"${index % 2 ? 'assistant' : 'user'}","content":"hi"}`)}`,
  'an input of a million fields': (scale) =>
    `"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"x","input":{${fields(scale, 1_000_000)}}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"}]}]`,
  '100,000 tools': (scale) =>
    `"messages":[{"role":"user","content":"hi"}],"tools":${list(scale, COUNT, (index) => `{"name":"t${index}","input_schema":{"type":"object"}}`)}`,
  'doubling $defs': (scale) =>
    `"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"t","input_schema":${schemas['doubling $defs']?.(scale)}}]`,
}

const shape = (name: string, to: string, rest: (scale: Scale) => string, path = '/messages'): Shape => ({
  name: `messages → ${to}: ${name}`,
  path: API + path,
  headers: { 'anthropic-version': '2023-06-01' },
  body: (scale) => `{"model":"${to}-plain","max_tokens":100,${rest(scale)}}`,
})

export const messagesRequests: readonly Shape[] = [
  ...Object.entries(blocks).flatMap(([name, { role, block }]) =>
    PROVIDER_DIALECTS.map((to) =>
      shape(`100,000 ${name}`, to, (scale) => {
        const first = role === 'assistant' ? '{"role":"user","content":"hi"},' : ''
        return `"messages":[${first}{"role":"${role}","content":${list(scale, COUNT, block)}}]`
      }),
    ),
  ),
  ...Object.entries(once).flatMap(([name, rest]) => PROVIDER_DIALECTS.map((to) => shape(name, to, rest))),
  shape('count of a text of 20 MB', 'messages', once['a text of 20 MB'] ?? String, '/messages/count_tokens'),
]
