import type { JsonObject } from '../../../src/core/events.ts'
import { isObject } from '../../../src/core/json.ts'
import { streamOf } from '../../dialects/converse/frames.ts'

/**
 * Providers that think, sign what they thought, and call three tools at once before they answer. Each one speaks its
 * own wire format, streamed and whole, in the forms of recorded traffic; and each demands its thoughts back as they
 * were, in its own place and order.
 */

export const TOOLS = ['tide', 'clock'] as const
export const CALLS = [
  { name: 'tide', args: { port: 'Brest' } },
  { name: 'tide', args: { port: 'Kiel' } },
  { name: 'clock', args: {} },
]
export const RESULTS = ['high at 12:03', 'low at 12:10', 'it is 11:58']
export const ANSWER = 'High at noon.'
const THOUGHT = 'Two ports, and the clock. Grüße 🌊'
const SAID = 'I ask.'

/** What is opaque, and must come back to the byte: the characters of real ones, and none that occurs elsewhere. */
export const SIGNATURES = {
  claude: 'EqQBCkYIB+claude/hgCKkD1==',
  redacted: 'EmwKAhgB+redacted/gGEgw9==',
  bedrock: 'EqQBCkYIB+bedrock/xYzKkQ==',
  bedrockRedacted: 'RedactedByBedrock==',
  gemini: 'CiQB+gemini/0e2Kb6Zg4=',
  geminiAnswer: 'CiQB+geminiAnswer/4=',
  openai: 'gAAAAABo-openai_reasoning_9X==',
  router: 'EqQBCkYIB+router/4f0==',
  routerRedacted: 'EmwKAhgB+routerRedacted==',
  routerItem: 'EqQBCkYIB+routerItem/1==',
}

const pieces = (text: string): string[] => [text.slice(0, 7), text.slice(7)].filter((piece) => piece !== '')
const json = (args: JsonObject): string => (Object.keys(args).length === 0 ? '' : JSON.stringify(args))

const frames = (events: readonly JsonObject[], isNamed: boolean): string =>
  events
    .map((event) => `${isNamed ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('')
const sse = (text: string): Response =>
  new Response(text, { headers: { 'content-type': 'text/event-stream' } })

/** The first turn (thoughts and calls) or the second (the answer), as the provider sends it. */
type Reply = (isFirst: boolean, isStream: boolean) => Response

// --- Anthropic -----------------------------------------------------------------------------------------------------

const claudeBlocks = (isFirst: boolean): JsonObject[] =>
  isFirst
    ? [
        { type: 'thinking', thinking: THOUGHT, signature: SIGNATURES.claude },
        { type: 'redacted_thinking', data: SIGNATURES.redacted },
        { type: 'text', text: SAID },
        ...CALLS.map(({ name, args }, i) => ({ type: 'tool_use', id: `toolu_${i}`, name, input: args })),
      ]
    : [{ type: 'text', text: ANSWER }]

function claudeEvents(block: JsonObject, index: number): JsonObject[] {
  const start = (content_block: JsonObject): JsonObject => ({
    type: 'content_block_start',
    index,
    content_block,
  })
  const delta = (fields: JsonObject): JsonObject => ({ type: 'content_block_delta', index, delta: fields })
  const stop = { type: 'content_block_stop', index }
  switch (block.type) {
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        ...pieces(String(block.thinking)).map((thinking) => delta({ type: 'thinking_delta', thinking })),
        delta({ type: 'signature_delta', signature: block.signature }),
        stop,
      ]
    case 'text':
      return [
        start({ type: 'text', text: '' }),
        ...pieces(String(block.text)).map((text) => delta({ type: 'text_delta', text })),
        stop,
      ]
    case 'tool_use': {
      const text = isObject(block.input) ? json(block.input) : ''
      return [
        start({ ...block, input: {} }),
        ...['', ...pieces(text)].map((partial_json) => delta({ type: 'input_json_delta', partial_json })),
        stop,
      ]
    }
    default:
      return [start(block), stop]
  }
}

const claude: Reply = (isFirst, isStream) => {
  const content = claudeBlocks(isFirst)
  const stop_reason = isFirst ? 'tool_use' : 'end_turn'
  const message = { id: 'msg_up', type: 'message', role: 'assistant', model: 'claude-up' }
  const usage = { input_tokens: 30, output_tokens: 20 }
  if (!isStream) return Response.json({ ...message, content, stop_reason, stop_sequence: null, usage })
  return sse(
    frames(
      [
        { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
        { type: 'ping' },
        ...content.flatMap(claudeEvents),
        { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
        { type: 'message_stop' },
      ],
      true,
    ),
  )
}

// --- Gemini --------------------------------------------------------------------------------------------------------

const geminiParts = (isFirst: boolean): JsonObject[] =>
  isFirst
    ? [
        { text: THOUGHT, thought: true },
        { text: SAID },
        ...CALLS.map(({ name, args }, i) => ({
          functionCall: Object.keys(args).length === 0 ? { name } : { name, args },
          // Of calls in parallel the first alone is signed.
          ...(i === 0 ? { thoughtSignature: SIGNATURES.gemini } : {}),
        })),
      ]
    : // The signature of an answer stands on an empty text behind it.
      [{ text: ANSWER }, { text: '', thoughtSignature: SIGNATURES.geminiAnswer }]

const gemini: Reply = (isFirst, isStream) => {
  const usageMetadata = {
    promptTokenCount: 30,
    candidatesTokenCount: 15,
    thoughtsTokenCount: 5,
    totalTokenCount: 50,
  }
  const chunk = (parts: JsonObject[], more: JsonObject = {}): JsonObject => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
    usageMetadata,
    modelVersion: 'gemini-3-up',
    responseId: 'up',
  })
  const parts = geminiParts(isFirst)
  if (!isStream) return Response.json(chunk(parts, { finishReason: 'STOP' }))
  const chunks = [...parts.map((part) => chunk([part])), chunk([{ text: '' }], { finishReason: 'STOP' })]
  return sse(chunks.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`).join(''))
}

// --- OpenAI's Responses --------------------------------------------------------------------------------------------

const openaiThought = {
  id: 'rs_up',
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: THOUGHT }],
  encrypted_content: SIGNATURES.openai,
}
/** OpenRouter's reasoning of Claude in this dialect. */
const routerThought = {
  id: 'rs_or',
  type: 'reasoning',
  summary: [],
  content: [{ type: 'reasoning_text', text: THOUGHT }],
  signature: SIGNATURES.routerItem,
  format: 'anthropic-claude-v1',
}
const messageItem = (text: string): JsonObject => ({
  id: 'msg_up',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
})
const outputItems = (isFirst: boolean, thought: JsonObject): JsonObject[] =>
  isFirst
    ? [
        thought,
        messageItem(SAID),
        ...CALLS.map(({ name, args }, i) => ({
          id: `fc_${i}`,
          type: 'function_call',
          call_id: `call_${i}`,
          name,
          arguments: JSON.stringify(args),
          status: 'completed',
        })),
      ]
    : [messageItem(ANSWER)]

function itemEvents(item: JsonObject, output_index: number): JsonObject[] {
  const at = { item_id: item.id, output_index }
  const done = { type: 'response.output_item.done', output_index, item }
  const added = (fields: JsonObject): JsonObject => ({
    type: 'response.output_item.added',
    output_index,
    item: { ...item, ...fields },
  })
  const deltas = (type: string, text: string, more: JsonObject): JsonObject[] =>
    pieces(text).map((delta) => ({ type, ...at, ...more, delta }))
  switch (item.type) {
    case 'reasoning': {
      const { encrypted_content, signature, content, ...rest } = item
      const isSummary = content === undefined
      return [
        { type: 'response.output_item.added', output_index, item: { ...rest, summary: [] } },
        ...(isSummary
          ? deltas('response.reasoning_summary_text.delta', THOUGHT, { summary_index: 0 })
          : deltas('response.reasoning_text.delta', THOUGHT, { content_index: 0 })),
        done,
      ]
    }
    case 'message': {
      const text = Array.isArray(item.content) ? item.content[0].text : ''
      const part = { type: 'output_text', text: '', annotations: [] }
      return [
        added({ content: [], status: 'in_progress' }),
        { type: 'response.content_part.added', ...at, content_index: 0, part },
        ...deltas('response.output_text.delta', text, { content_index: 0 }),
        { type: 'response.output_text.done', ...at, content_index: 0, text },
        { type: 'response.content_part.done', ...at, content_index: 0, part: { ...part, text } },
        done,
      ]
    }
    default:
      return [
        added({ arguments: '', status: 'in_progress' }),
        ...deltas('response.function_call_arguments.delta', String(item.arguments), {}),
        { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
        done,
      ]
  }
}

const responsesOf =
  (thought: JsonObject): Reply =>
  (isFirst, isStream) => {
    const output = outputItems(isFirst, thought)
    const usage = {
      input_tokens: 30,
      output_tokens: 20,
      total_tokens: 50,
      output_tokens_details: { reasoning_tokens: 5 },
    }
    const response = { id: 'resp_up', object: 'response', created_at: 1_790_000_000, model: 'o-up' }
    const whole = { ...response, status: 'completed', output, usage }
    if (!isStream) return Response.json(whole)
    const open = { ...response, status: 'in_progress', output: [], usage: null }
    const events = [
      { type: 'response.created', response: open },
      { type: 'response.in_progress', response: open },
      ...output.flatMap(itemEvents),
      { type: 'response.completed', response: whole },
    ]
    return sse(
      frames(
        events.map((event, sequence_number) => ({ ...event, sequence_number })),
        true,
      ),
    )
  }

// --- Bedrock -------------------------------------------------------------------------------------------------------

const bedrockBlocks = (isFirst: boolean): JsonObject[] =>
  isFirst
    ? [
        { reasoningContent: { reasoningText: { text: THOUGHT, signature: SIGNATURES.bedrock } } },
        { reasoningContent: { redactedContent: btoa(SIGNATURES.bedrockRedacted) } },
        { text: SAID },
        ...CALLS.map(({ name, args }, i) => ({
          toolUse: { toolUseId: `tooluse_${i}`, name, input: args },
        })),
      ]
    : [{ text: ANSWER }]

function bedrockEvents(block: JsonObject, contentBlockIndex: number): JsonObject[] {
  const delta = (fields: JsonObject): JsonObject => ({
    contentBlockDelta: { contentBlockIndex, delta: fields, p: 'abc' },
  })
  const stop = { contentBlockStop: { contentBlockIndex, p: 'ab' } }
  const { toolUse, reasoningContent, text } = block
  if (isObject(toolUse)) {
    const { input, ...start } = toolUse
    const written = isObject(input) ? json(input) : ''
    return [
      { contentBlockStart: { contentBlockIndex, start: { toolUse: start } } },
      ...['', ...pieces(written)].map((each) => delta({ toolUse: { input: each } })),
      stop,
    ]
  }
  if (typeof text === 'string') return [...pieces(text).map((each) => delta({ text: each })), stop]
  const thought = isObject(reasoningContent) ? reasoningContent.reasoningText : undefined
  if (!isObject(thought)) return [delta({ reasoningContent }), stop]
  return [
    ...pieces(String(thought.text)).map((each) => delta({ reasoningContent: { text: each } })),
    delta({ reasoningContent: { signature: thought.signature } }),
    stop,
  ]
}

const bedrock: Reply = (isFirst, isStream) => {
  const content = bedrockBlocks(isFirst)
  const stopReason = isFirst ? 'tool_use' : 'end_turn'
  const usage = { inputTokens: 30, outputTokens: 20, totalTokens: 50 }
  if (!isStream) {
    return Response.json({ output: { message: { role: 'assistant', content } }, stopReason, usage })
  }
  const events = [
    { messageStart: { role: 'assistant' } },
    ...content.flatMap(bedrockEvents),
    { messageStop: { stopReason } },
    { metadata: { usage, metrics: { latencyMs: 12 } } },
  ]
  return new Response(streamOf(events), {
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
  })
}

// --- OpenRouter's chat completions ---------------------------------------------------------------------------------

const routerDetails = [
  {
    type: 'reasoning.text',
    text: THOUGHT,
    signature: SIGNATURES.router,
    format: 'anthropic-claude-v1',
    index: 0,
  },
  {
    type: 'reasoning.encrypted',
    data: SIGNATURES.routerRedacted,
    format: 'anthropic-claude-v1',
    index: 1,
  },
]
const chatCalls = CALLS.map(({ name, args }, i) => ({
  id: `call_${i}`,
  type: 'function',
  function: { name, arguments: json(args) },
}))

const router: Reply = (isFirst, isStream) => {
  const shared = { id: 'gen-up', created: 1_790_000_000, model: 'router-up', provider: 'Anthropic' }
  const usage = { prompt_tokens: 30, completion_tokens: 20, total_tokens: 50 }
  const finish_reason = isFirst ? 'tool_calls' : 'stop'
  if (!isStream) {
    const first = {
      content: SAID,
      reasoning: THOUGHT,
      reasoning_details: routerDetails,
      tool_calls: chatCalls,
    }
    const message = { role: 'assistant', ...(isFirst ? first : { content: ANSWER }) }
    const choices = [{ index: 0, finish_reason, native_finish_reason: finish_reason, message }]
    return Response.json({ ...shared, object: 'chat.completion', choices, usage })
  }
  const chunk = (delta: JsonObject, finish: string | null = null, more: JsonObject = {}): string => {
    const choices = [{ index: 0, delta: { role: 'assistant', content: '', ...delta }, finish_reason: finish }]
    return `data: ${JSON.stringify({ ...shared, object: 'chat.completion.chunk', choices, ...more })}\n\n`
  }
  const { signature, text, ...open } = routerDetails[0] ?? {}
  const thinking = [
    ...pieces(THOUGHT).map((piece) =>
      chunk({ reasoning: piece, reasoning_details: [{ ...open, text: piece }] }),
    ),
    chunk({ reasoning: null, reasoning_details: [{ ...open, signature }] }),
    chunk({ reasoning: null, reasoning_details: routerDetails.slice(1) }),
    chunk({ content: SAID }),
    ...chatCalls.flatMap(({ function: called, ...call }, index) => [
      chunk({
        content: null,
        tool_calls: [{ index, ...call, function: { ...called, arguments: '' } }],
      }),
      ...pieces(called.arguments).map((piece) =>
        chunk({ content: null, tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ]),
  ]
  return sse(
    [
      ': OPENROUTER PROCESSING\n\n',
      ...(isFirst ? thinking : pieces(ANSWER).map((content) => chunk({ content }))),
      chunk({}, finish_reason),
      chunk({}, finish_reason, { usage }),
      'data: [DONE]\n\n',
    ].join(''),
  )
}

// --- Cohere --------------------------------------------------------------------------------------------------------

const cohere: Reply = (isFirst, isStream) => {
  const usage = {
    billed_units: { input_tokens: 30, output_tokens: 20 },
    tokens: { input_tokens: 300, output_tokens: 25 },
  }
  const finish_reason = isFirst ? 'TOOL_CALL' : 'COMPLETE'
  const calls = chatCalls.map(({ function: { name, arguments: text }, ...call }) => ({
    ...call,
    function: { name, arguments: text === '' ? null : text },
  }))
  const content = isFirst ? [{ type: 'thinking', thinking: THOUGHT }] : [{ type: 'text', text: ANSWER }]
  if (!isStream) {
    const first = { tool_plan: SAID, tool_calls: calls }
    const message = { role: 'assistant', content, ...(isFirst ? first : {}) }
    return Response.json({ id: 'up', finish_reason, message, usage })
  }
  const delta = (message: JsonObject): JsonObject => ({ delta: { message } })
  const [block = { type: 'text' }] = content
  const field = block.type
  const text = isFirst ? THOUGHT : ANSWER
  const events = [
    {
      type: 'message-start',
      id: 'up',
      ...delta({ role: 'assistant', content: [], tool_plan: '', tool_calls: [] }),
    },
    { type: 'content-start', index: 0, ...delta({ content: { type: field, [field]: '' } }) },
    ...pieces(text).map((piece) => ({
      type: 'content-delta',
      index: 0,
      ...delta({ content: { [field]: piece } }),
    })),
    { type: 'content-end', index: 0 },
    ...(isFirst
      ? [
          ...pieces(SAID).map((tool_plan) => ({ type: 'tool-plan-delta', ...delta({ tool_plan }) })),
          ...chatCalls.flatMap(({ function: called, ...call }, index) => [
            {
              type: 'tool-call-start',
              index,
              ...delta({ tool_calls: { ...call, function: { name: called.name, arguments: '' } } }),
            },
            ...pieces(called.arguments).map((piece) => ({
              type: 'tool-call-delta',
              index,
              ...delta({ tool_calls: { function: { arguments: piece } } }),
            })),
            { type: 'tool-call-end', index },
          ]),
        ]
      : []),
    { type: 'message-end', delta: { finish_reason, usage } },
  ]
  return sse(frames(events, true))
}

// --- What each one demands back ------------------------------------------------------------------------------------

/** A conversation of a request after the user's question, without what has no weight, in one form for `toEqual`. */
type Conversation = JsonObject[]

const pick = (value: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])))
const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
const blocksOf = (content: unknown): JsonObject[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
const plain = (content: unknown): string =>
  blocksOf(content)
    .map(({ text }) => text)
    .join('')

const ofClaude = ({ messages }: JsonObject): Conversation =>
  listOf(messages)
    .slice(1)
    .map(({ role, content }) => ({
      role,
      content: blocksOf(content).map((block) => ({
        ...pick(block, [
          'type',
          'thinking',
          'signature',
          'data',
          'text',
          'id',
          'name',
          'input',
          'tool_use_id',
        ]),
        ...(block.type === 'tool_result' ? { content: plain(block.content) } : {}),
      })),
    }))
const forClaude: Conversation = [
  { role: 'assistant', content: claudeBlocks(true) },
  {
    role: 'user',
    content: RESULTS.map((content, i) => ({ type: 'tool_result', tool_use_id: `toolu_${i}`, content })),
  },
]

const ofGemini = ({ contents }: JsonObject): Conversation => listOf(contents).slice(1)
const forGemini: Conversation = [
  {
    role: 'model',
    parts: geminiParts(true).map(({ functionCall, ...part }) =>
      isObject(functionCall) ? { functionCall: { args: {}, ...functionCall }, ...part } : part,
    ),
  },
  {
    role: 'user',
    parts: RESULTS.map((output, i) => ({
      functionResponse: { name: CALLS[i]?.name, response: { output } },
    })),
  },
]

const itemFields = ['type', 'summary', 'encrypted_content', 'call_id', 'name', 'arguments', 'output']
const ofResponses = ({ input }: JsonObject): Conversation =>
  listOf(input)
    .slice(1)
    .map((item) => {
      if (item.type === 'reasoning') {
        return pick(item, ['type', 'summary', 'content', 'encrypted_content', 'signature', 'format'])
      }
      return item.role === undefined ? pick(item, itemFields) : { role: item.role, text: plain(item.content) }
    })
const forResponses = (thought: JsonObject): Conversation => {
  const { id, ...own } = thought
  return [
    own,
    { role: 'assistant', text: SAID },
    ...CALLS.map(({ name, args }, i) => ({
      type: 'function_call',
      call_id: `call_${i}`,
      name,
      arguments: JSON.stringify(args),
    })),
    ...RESULTS.map((output, i) => ({ type: 'function_call_output', call_id: `call_${i}`, output })),
  ]
}

const ofBedrock = ({ messages }: JsonObject): Conversation => listOf(messages).slice(1)
const forBedrock: Conversation = [
  { role: 'assistant', content: bedrockBlocks(true) },
  {
    role: 'user',
    content: RESULTS.map((text, i) => ({
      toolResult: { toolUseId: `tooluse_${i}`, content: [{ text }] },
    })),
  },
]

/** Pieces of one detail that was streamed go back as they came; OpenRouter reads them as one. */
function joinedDetails(details: unknown): JsonObject[] {
  const joined: JsonObject[] = []
  for (const detail of listOf(details)) {
    const last = joined.at(-1)
    if (last?.index !== detail.index) joined.push({ ...detail })
    else if (last) Object.assign(last, detail, { text: `${last.text ?? ''}${detail.text ?? ''}` })
  }
  return joined
}
const ofRouter = ({ messages }: JsonObject): Conversation =>
  listOf(messages)
    .slice(1)
    .map((message) =>
      message.role === 'assistant'
        ? {
            ...pick(message, ['role', 'reasoning', 'tool_calls']),
            content: plain(message.content),
            reasoning_details: joinedDetails(message.reasoning_details),
          }
        : { ...pick(message, ['role', 'tool_call_id']), content: plain(message.content) },
    )
const whole = chatCalls.map(({ function: called, ...call }) => ({
  ...call,
  function: { ...called, arguments: called.arguments === '' ? '{}' : called.arguments },
}))
const chatResults = RESULTS.map((content, i) => ({ role: 'tool', tool_call_id: `call_${i}`, content }))
const forRouter: Conversation = [
  {
    role: 'assistant',
    content: SAID,
    reasoning: THOUGHT,
    reasoning_details: routerDetails,
    tool_calls: whole,
  },
  ...chatResults,
]

const ofCohere = ({ messages }: JsonObject): Conversation =>
  listOf(messages)
    .slice(1)
    .map((message) => (message.role === 'tool' ? { ...message, content: plain(message.content) } : message))
const forCohere: Conversation = [
  {
    role: 'assistant',
    content: [{ type: 'thinking', thinking: THOUGHT }],
    tool_plan: SAID,
    tool_calls: whole,
  },
  ...chatResults,
]

/** One wire format behind an address. */
export interface Wire {
  /** What of the path says that this format is spoken. */
  readonly path: RegExp
  readonly reply: Reply
  readonly conversationOf: (body: JsonObject) => Conversation
  readonly demanded: Conversation
}

export interface Shape {
  readonly name: string
  /** The model's name at the gateway. */
  readonly model: string
  readonly provider: string
  /** The first whose path fits. */
  readonly wires: readonly Wire[]
  /** Opaque strings that this provider may be shown: its own, and those of platforms of the same models. */
  readonly knows: readonly string[]
}

const { claude: signed, redacted, bedrock: signedAtBedrock, bedrockRedacted, ...signatures } = SIGNATURES
const CLAUDES = [signed, redacted, signedAtBedrock, bedrockRedacted]
const ROUTERS = [signatures.router, signatures.routerRedacted, signatures.routerItem]

export const SHAPES: readonly Shape[] = [
  {
    name: 'Anthropic',
    model: 'claude-lab',
    provider: 'claude',
    wires: [{ path: /^\/claude\//, reply: claude, conversationOf: ofClaude, demanded: forClaude }],
    knows: [...CLAUDES, ...ROUTERS],
  },
  {
    name: 'Gemini',
    model: 'gemini-lab',
    provider: 'google',
    wires: [{ path: /^\/google\//, reply: gemini, conversationOf: ofGemini, demanded: forGemini }],
    knows: [signatures.gemini, signatures.geminiAnswer],
  },
  {
    name: 'OpenAI',
    model: 'o-lab',
    provider: 'open',
    wires: [
      {
        path: /^\/open\//,
        reply: responsesOf(openaiThought),
        conversationOf: ofResponses,
        demanded: forResponses(openaiThought),
      },
    ],
    knows: [signatures.openai],
  },
  {
    name: 'Bedrock',
    model: 'bedrock-lab',
    provider: 'aws',
    wires: [{ path: /^\/aws\//, reply: bedrock, conversationOf: ofBedrock, demanded: forBedrock }],
    knows: [...CLAUDES, ...ROUTERS],
  },
  {
    name: 'OpenRouter',
    model: 'anthropic/claude-sonnet-4.5',
    provider: 'openrouter',
    wires: [
      {
        path: /^\/router\/.*responses$/,
        reply: responsesOf(routerThought),
        conversationOf: ofResponses,
        demanded: forResponses(routerThought),
      },
      { path: /^\/router\//, reply: router, conversationOf: ofRouter, demanded: forRouter },
    ],
    knows: Object.values(SIGNATURES),
  },
  {
    name: 'Cohere',
    model: 'command-lab',
    provider: 'cohere',
    wires: [{ path: /^\/cohere\//, reply: cohere, conversationOf: ofCohere, demanded: forCohere }],
    knows: [],
  },
]

/** Vendors of OpenAI's shape that refuse what they did not write: the same replies as OpenRouter's, unsigned. */
const plainChat: Wire = {
  path: /^\/plain\/.*chat\/completions$/,
  reply: (_, isStream) => router(false, isStream),
  conversationOf: ofRouter,
  demanded: [],
}
const plainResponses: Wire = {
  path: /^\/plain\/.*responses$/,
  reply: (_, isStream) => responsesOf(openaiThought)(false, isStream),
  conversationOf: ofResponses,
  demanded: [],
}
/** Where a conversation may go on that began elsewhere. */
export const VENDORS: readonly Shape[] = [
  { name: 'OpenAI itself', model: 'openai/gpt-5-mini', provider: 'openai', knows: [signatures.openai] },
  { name: 'Groq', model: 'openai/gpt-oss-120b', provider: 'groq', knows: [] },
  { name: 'Cerebras', model: 'z-ai/glm-4.7', provider: 'cerebras', knows: [] },
  { name: 'Mistral', model: 'mistralai/magistral-medium-latest', provider: 'mistral', knows: [] },
].map((vendor) => ({ ...vendor, wires: [plainChat, plainResponses] }))
