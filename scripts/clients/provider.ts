import type { JsonObject } from '../../src/core/events.ts'
import { isObject } from '../../src/core/json.ts'
import { type Asked, answers, DIALECTS, type Dialect, type Script, type Turn } from './script.ts'
import { chatEvents, chatReply } from './wires/chat.ts'
import { geminiEvents, geminiReply } from './wires/gemini.ts'
import { messagesEvents, messagesReply } from './wires/messages.ts'
import { responsesEvents, responsesReply } from './wires/responses.ts'

/** One server on loopback that stands for a provider of each dialect and does what the script of the moment says. */
export interface Provider {
  /** Entries of `providers:`. */
  readonly entries: JsonObject[]
  /** Forgets the requests so far and plays this script from now on. */
  play(script: Script): Asked[]
  stop(): Promise<void>
}

interface Wire {
  readonly path: RegExp
  events(turn: Turn): string[]
  reply(turn: Turn): JsonObject
}

const WIRES: Readonly<Record<Dialect, Wire>> = {
  chat: { path: /\/chat\/completions$/, events: chatEvents, reply: chatReply },
  responses: { path: /\/responses$/, events: responsesEvents, reply: responsesReply },
  messages: { path: /\/messages$/, events: messagesEvents, reply: messagesReply },
  gemini: { path: /:(?:stream)?[gG]enerateContent$/, events: geminiEvents, reply: geminiReply },
}

export const modelOf = (dialect: Dialect): string => `scripted-${dialect}`

const PIECE_PAUSE_MS = 5

export function startProvider(): Provider {
  let script: Script = answers
  let asked: Asked[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 120,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const dialect = DIALECTS.find((name) => WIRES[name].path.test(pathname))
      if (!dialect) return Response.json({ error: { message: `no such path: ${pathname}` } }, { status: 404 })
      const entry = readAsked(dialect, pathname, await request.text())
      asked.push(entry)
      return respond(WIRES[dialect], numbered(script(entry), asked.length), entry)
    },
  })
  return {
    entries: DIALECTS.map((dialect) => entryOf(dialect, `http://127.0.0.1:${server.port}/v1`)),
    play(next) {
      script = next
      asked = []
      return asked
    },
    stop: () => server.stop(true),
  }
}

const numbered = (turn: Turn, count: number): Turn =>
  'call' in turn ? { call: { ...turn.call, id: `call_scripted_${count}` } } : turn

const entryOf = (dialect: Dialect, base_url: string): JsonObject => ({
  slug: `lab-${dialect}`,
  dialect,
  base_url,
  api_key: 'secret-of-the-scripted-provider',
  models: [
    {
      id: modelOf(dialect),
      context_length: 200_000,
      max_completion_tokens: 32_000,
      pricing: { prompt: '0.000001', completion: '0.000002' },
    },
  ],
})

function readAsked(dialect: Dialect, path: string, json: string): Asked {
  const body: unknown = JSON.parse(json)
  if (!isObject(body)) throw new Error('the gateway sent a body that is no object')
  const isStreamed = body.stream === true || path.includes(':stream')
  return { dialect, isStreamed, tools: toolNames(body.tools), body, json }
}

/** The names at every depth: Gemini lists declarations in groups, chat wraps each in `function`. */
function toolNames(tools: unknown): string[] {
  if (!Array.isArray(tools)) return []
  return tools.flatMap((tool) => {
    if (!isObject(tool)) return []
    if (Array.isArray(tool.functionDeclarations)) return toolNames(tool.functionDeclarations)
    const name = isObject(tool.function) ? tool.function.name : tool.name
    return typeof name === 'string' ? [name] : []
  })
}

function respond(wire: Wire, turn: Turn, asked: Asked): Response {
  if (!asked.isStreamed) {
    const json = JSON.stringify(wire.reply(turn))
    const text = 'cut' in turn ? json.slice(0, json.length / 2) : json
    return new Response(text, { headers: { 'content-type': 'application/json' } })
  }
  const encoder = new TextEncoder()
  const events = wire.events(turn)
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const event = events.shift()
      if (event === undefined && 'cut' in turn && turn.hangs) await new Promise(() => undefined)
      if (event === undefined) return controller.close()
      await Bun.sleep(PIECE_PAUSE_MS)
      controller.enqueue(encoder.encode(event))
    },
    cancel() {
      asked.cancelledAt = Date.now()
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
