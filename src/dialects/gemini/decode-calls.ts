import { UpstreamError } from '../../core/errors.ts'
import type { InferenceEvent, JsonObject } from '../../core/events.ts'
import { newToolCallId } from '../../core/ids.ts'
import { asFilledText, fieldsOf, isObject, isString } from '../../core/json.ts'
import { MAX_TEXT_DEPTH } from '../../core/json-excess.ts'
import { checkCalls } from '../reply-decoder.ts'
import { callExtra, signatureDetail } from './signatures.ts'

/** The calls of one candidate: complete ones, and those whose arguments come in pieces. */
export interface FunctionCalls {
  /** One part with a `functionCall`. Throws `malformed` for a call without a name. */
  add(call: JsonObject, signature: string | undefined, events: InferenceEvent[]): void
  /** Completes the open call: another part came, or the end. */
  close(events: InferenceEvent[]): void
  has(): boolean
}

export function createFunctionCalls(choice: number): FunctionCalls {
  let count = 0
  let open: { index: number; pieces: PartialArguments } | null = null

  function start(
    call: JsonObject,
    name: string,
    signature: string | undefined,
    events: InferenceEvent[],
  ): number {
    checkCalls(count)
    const index = count++
    const id = asFilledText(call['id']) ?? newToolCallId()
    const extra = signature === undefined ? {} : { extra: callExtra(signature) }
    events.push({ type: 'tool-call-start', choice, index, id, name, ...extra })
    if (signature !== undefined) {
      events.push({ type: 'reasoning-detail', choice, detail: signatureDetail(signature, id) })
    }
    return index
  }

  function close(events: InferenceEvent[]): void {
    if (open === null) return
    events.push({ type: 'tool-call-delta', choice, index: open.index, json: open.pieces.json() })
    open = null
  }

  return {
    add(call, signature, events) {
      const { name, args, partialArgs, willContinue } = call
      if (isString(name) && name !== '') {
        close(events)
        const index = start(call, name, signature, events)
        if (willContinue === true || Array.isArray(partialArgs)) {
          open = { index, pieces: createPartialArguments() }
        } else {
          const json = JSON.stringify(fieldsOf(args))
          events.push({ type: 'tool-call-delta', choice, index, json })
        }
      } else if (open === null) {
        // An empty call may follow the piece that ended a call in pieces.
        if (isObject(args) || Array.isArray(partialArgs)) throw nameless()
        return
      }
      if (Array.isArray(partialArgs)) open?.pieces.add(partialArgs)
      if (willContinue !== true) close(events)
    },
    close,
    has: () => count > 0,
  }
}

const nameless = (): UpstreamError => new UpstreamError('malformed', 'a tool call of the reply has no name')

/** The arguments of a call that come in pieces, each with the place where it belongs (Vertex, Gemini 3). */
interface PartialArguments {
  /** `partialArgs` of one functionCall. Throws `malformed` for a place that cannot be. */
  add(pieces: readonly unknown[]): void
  json(): string
}

type Step = string | number

/** Bounds lists with gaps, so that pieces cannot fill the memory with empty places. */
const MAX_INDEX = 10_000
const MOST_EMPTY = 10_000

function createPartialArguments(): PartialArguments {
  const root: Record<string, unknown> = {}
  /** The path of the text that the next piece continues. */
  let open: string | null = null
  let empty = 0

  function put(steps: readonly Step[], value: unknown): void {
    empty += putInto(root, steps, value)
    if (empty > MOST_EMPTY) throw misplaced()
  }

  return {
    add(pieces) {
      for (const piece of pieces) {
        if (!isObject(piece) || !isString(piece['jsonPath'])) continue
        const path = piece['jsonPath']
        const { stringValue, numberValue, boolValue } = piece
        if (isString(stringValue)) {
          const before = open === path ? valueAt(root, stepsOf(path)) : undefined
          put(stepsOf(path), isString(before) ? before + stringValue : stringValue)
        } else if (typeof numberValue === 'number') put(stepsOf(path), numberValue)
        else if (typeof boolValue === 'boolean') put(stepsOf(path), boolValue)
        else if ('nullValue' in piece) put(stepsOf(path), null)
        open = piece['willContinue'] === true ? path : null
      }
    },
    json: () => JSON.stringify(root),
  }
}

const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y

/** `$.operations[0].action` and `$['a key']` (RFC 9535, single places only). */
function stepsOf(path: string): Step[] {
  const steps: Step[] = []
  let at = 1
  while (at < path.length) {
    STEP.lastIndex = at
    const match = STEP.exec(path)
    if (!match) throw misplaced()
    const [all, name, index, single, double] = match
    if (index !== undefined) steps.push(Number(index))
    else steps.push(name ?? (single ?? double ?? '').replace(/\\(.)/g, '$1'))
    at += all.length
    if (steps.length > MAX_TEXT_DEPTH) throw misplaced()
  }
  if (!path.startsWith('$') || steps.length === 0) throw misplaced()
  if (steps.some((step) => typeof step === 'number' && step > MAX_INDEX)) throw misplaced()
  return steps
}

function valueAt(root: object, steps: readonly Step[]): unknown {
  let value: unknown = root
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined
    value = Reflect.get(value, step)
  }
  return value
}

/** Returns how many places of lists it left empty. */
function putInto(root: object, steps: readonly Step[], value: unknown): number {
  let target = root
  let empty = 0
  steps.forEach((step, i) => {
    if (typeof step === 'number' && Array.isArray(target)) empty += Math.max(0, step - target.length)
    const next = steps[i + 1]
    if (next === undefined) {
      define(target, step, value)
      return
    }
    const existing: unknown = Object.hasOwn(target, step) ? Reflect.get(target, step) : undefined
    const inner =
      typeof existing === 'object' && existing !== null ? existing : typeof next === 'number' ? [] : {}
    if (inner !== existing) define(target, step, inner)
    target = inner
  })
  return empty
}

/** Defines `__proto__` as a plain key; assignment would call its setter. */
const define = (target: object, key: Step, value: unknown): void => {
  Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true })
}

const misplaced = (): UpstreamError =>
  new UpstreamError('malformed', 'a piece of a tool call belongs nowhere in its arguments')
