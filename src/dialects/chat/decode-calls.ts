import { UpstreamError } from '../../core/errors.ts'
import type { InferenceEvent, JsonObject } from '../../core/events.ts'
import { newToolCallId } from '../../core/ids.ts'
import { isObject, isString, isText, restOf, textOf } from '../../core/json.ts'
import { createJsonEnd, isNull, type JsonEnd } from '../json-text.ts'
import { checkCalls } from '../reply-decoder.ts'

/** The tool calls of one choice, put together from fragments of any provider's making. */
export interface ToolCalls {
  /** `tool_calls` of a delta: fragments that continue calls or begin them. */
  addFragments(fragments: readonly unknown[], events: InferenceEvent[]): void
  /** `tool_calls` of a complete message: each entry is a call. */
  addComplete(calls: readonly unknown[], events: InferenceEvent[]): void
  /** The `function_call` of OpenAI's first API; at most one, in fragments. */
  addLegacy(call: JsonObject, events: InferenceEvent[]): void
  /**
   * Nothing more comes. Calls without arguments get `{}`, unless the model was cut short before it could write
   * them. Throws `malformed` for a call that was never named.
   */
  end(wasTruncated: boolean, events: InferenceEvent[]): void
  has(): boolean
}

interface Call {
  index: number
  /** The provider's id, '' as long as it gave none. */
  upstreamId: string
  name: string
  json: string
  /** Of `json`. */
  readonly end: JsonEnd
  hasStarted: boolean
  extra: JsonObject | undefined
}

/** One entry of a `tool_calls` list, as far as it can be read. */
interface Fragment {
  index: number | undefined
  id: string
  name: string
  json: string
  /** False: a custom tool, whose input is text. */
  isFunction: boolean
  extra: JsonObject | undefined
}

const KNOWN: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function', 'custom'])
const KNOWN_FUNCTION: ReadonlySet<string> = new Set(['name', 'arguments'])

/** What such a call has beside its name and arguments. */
const LEGACY = { index: undefined, id: '', isFunction: true, extra: undefined }

export function createToolCalls(choice: number): ToolCalls {
  const calls: Call[] = []
  /** Those that `tool_calls` lists hold. A stream may have very many calls, so none is searched for. */
  const listed: Call[] = []
  /** Among `listed`, the first call of the last list that began one. */
  let lastBegun = 0
  /** The last of each index. */
  const byIndex = new Map<number, Call>()
  /** The first of each id. */
  const byId = new Map<string, Call>()
  let legacy: Call | undefined

  function open(): Call {
    checkCalls(calls.length)
    const call = newCall(calls.length)
    calls.push(call)
    return call
  }

  function openListed(fragment: Fragment): Call {
    const call = open()
    listed.push(call)
    if (fragment.index !== undefined) byIndex.set(fragment.index, call)
    return call
  }

  function add(call: Call, fragment: Fragment, events: InferenceEvent[]): void {
    if (call.upstreamId === '') call.upstreamId = fragment.id
    if (!byId.has(call.upstreamId)) byId.set(call.upstreamId, call)
    extend(call, fragment, choice, events)
  }

  /**
   * By index, else by id, else by position in the list; alone in its list, a fragment continues what began last. An
   * index that comes again with a name and another id, or without ids after complete arguments, is another call:
   * Gemini's compatible API numbers all parallel calls 0.
   */
  function find(fragment: Fragment, position: number, isAlone: boolean): Call | undefined {
    if (fragment.index !== undefined) {
      const call = byIndex.get(fragment.index)
      return call && isAnother(call, fragment) ? undefined : call
    }
    const ofId = fragment.id === '' ? undefined : byId.get(fragment.id)
    if (ofId || (fragment.id !== '' && fragment.name !== '')) return ofId
    const call = listed[isAlone ? lastBegun : position]
    return fragment.name !== '' && call?.end.isComplete() ? undefined : call
  }

  return {
    addFragments(fragments, events) {
      const before = listed.length
      fragments.forEach((each, position) => {
        const fragment = readFragment(each)
        const known = fragment && find(fragment, position, fragments.length === 1)
        if (fragment) add(known ?? openListed(fragment), fragment, events)
      })
      if (listed.length > before) lastBegun = before
    },
    addComplete(entries, events) {
      for (const entry of entries) {
        const fragment = readFragment(entry)
        if (fragment) add(openListed(fragment), fragment, events)
      }
    },
    addLegacy(raw, events) {
      const fragment = { ...LEGACY, ...readCall(raw, 'arguments') }
      if (fragment.name === '' && fragment.json === '') return
      legacy ??= open()
      add(legacy, fragment, events)
    },
    end(wasTruncated, events) {
      for (const call of calls) {
        if (!call.hasStarted) throw new UpstreamError('malformed', 'a tool call of the reply has no name')
        if (call.json === '' && !wasTruncated) pushArguments(call, '{}', choice, events)
      }
    },
    has: () => calls.length > 0,
  }
}

const newCall = (index: number): Call => ({
  index,
  upstreamId: '',
  name: '',
  json: '',
  end: createJsonEnd(),
  hasStarted: false,
  extra: undefined,
})

function extend(call: Call, fragment: Fragment, choice: number, events: InferenceEvent[]): void {
  if (call.name === '') call.name = fragment.name
  call.extra ??= fragment.extra
  call.end.push(fragment.json)
  const json = call.json === '' && fragment.isFunction && isNull(fragment.json) ? '' : fragment.json
  call.json += json
  if (call.hasStarted) {
    pushArguments(call, json, choice, events)
    return
  }
  // Held back until it has a name: a start carries id and name, and comes before any argument.
  if (call.name === '') return
  call.hasStarted = true
  events.push({
    type: 'tool-call-start',
    choice,
    index: call.index,
    id: call.upstreamId || newToolCallId(),
    name: call.name,
    ...(call.extra ? { extra: call.extra } : {}),
  })
  pushArguments(call, call.json, choice, events)
}

function pushArguments({ index }: Call, json: string, choice: number, events: InferenceEvent[]): void {
  if (json !== '') events.push({ type: 'tool-call-delta', choice, index, json })
}

function isAnother(call: Call, fragment: Fragment): boolean {
  if (fragment.name === '') return false
  if (fragment.id !== '' && call.upstreamId !== '') return fragment.id !== call.upstreamId
  const hasNoId = fragment.id === '' && call.upstreamId === ''
  return hasNoId && fragment.json !== '' && call.end.isComplete()
}

/** Undefined for an empty entry: Snowflake pads messages with empty calls. */
function readFragment(raw: unknown): Fragment | undefined {
  if (!isObject(raw)) return undefined
  const isCustom = raw['type'] === 'custom' && isObject(raw['custom'])
  const { name, json } = isCustom ? readCall(raw['custom'], 'input') : readCall(raw['function'], 'arguments')
  const index = Number.isSafeInteger(raw['index']) ? Number(raw['index']) : undefined
  const id = textOf(raw['id'])
  if (index === undefined && id === '' && name === '' && json === '') return undefined
  return { index, id, name, json, isFunction: !isCustom, extra: extraOf(raw) }
}

function readCall(raw: unknown, argumentsField: string): { name: string; json: string } {
  if (!isObject(raw)) return { name: '', json: '' }
  const name = raw['name']
  const value = raw[argumentsField]
  const json = isString(value) ? value : isObject(value) || Array.isArray(value) ? JSON.stringify(value) : ''
  return { name: textOf(name), json }
}

/** What our reader does not know of a call, such as Google's `extra_content` with the thought's signature. */
function extraOf(raw: JsonObject): JsonObject | undefined {
  const rest = restOf(raw, KNOWN)
  const inner = isObject(raw['function']) ? restOf(raw['function'], KNOWN_FUNCTION) : undefined
  const type = isText(raw['type']) && raw['type'] !== 'function' ? raw['type'] : undefined
  if (!inner && type === undefined) return rest
  return { ...rest, ...(inner ? { function: inner } : {}), ...(type === undefined ? {} : { type }) }
}
