import { isString } from '../../core/json.ts'
import type { ContentPart, Message } from '../../core/request.ts'
import { turnsByTime } from '../../core/turn.ts'
import { type Count, messageTokens } from './tokens.ts'
import { middleOut, type Unit, unitsOf } from './turns.ts'

/** What was left out of a conversation. */
interface LeftOut {
  messages: number
  /** Images, files, audio and video; a word stands in their place. */
  media: number
  /** Characters cut from the middle of long texts. */
  characters: number
}

export interface Compressed {
  readonly messages: Message[]
  readonly leftOut: LeftOut
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** False: instructions, first and last turn alone are too long. */
  readonly fits: boolean
}

/** A conversation while it gets shorter. */
interface Shortening {
  /** Undefined: left out. */
  readonly messages: (Message | undefined)[]
  readonly sizes: number[]
  readonly count: Count
  readonly leftOut: LeftOut
  readonly most: number
  /** The messages whose parts are copies already. */
  readonly copied: Set<number>
  /** Lets the event loop go on after long steps. */
  readonly pace: ReturnType<typeof turnsByTime>
  total: number
}

/**
 * Leaves out what a conversation can miss best until it has at most this many tokens:
 *
 * 1. images and files of the turns in the middle, those of the middle first
 * 2. the turns in the middle, each with its calls and results
 * 3. calls with their results in the last turn, and what follows the question in the first one
 * 4. the middle of long texts: results of tools, then answers, then questions
 * 5. images and files of the first and the last turn
 *
 * Instructions, the first and the last question, and the last call with its results stay. A message with thoughts stays
 * with all of them or goes. Null: the conversation fits as it is. `sizes`: the tokens of each message. Long conversations are
 * shortened in steps, between which the event loop goes on.
 */
export async function compress(
  messages: readonly Message[],
  most: number,
  count: Count,
  sizes: number[] = messages.map((message) => messageTokens(message, count)),
): Promise<Compressed | null> {
  const tokensBefore = sizes.reduce((sum, size) => sum + size, 0)
  if (tokensBefore <= most) return null
  const leftOut: LeftOut = { messages: 0, media: 0, characters: 0 }
  const copied = new Set<number>()
  const state: Shortening = {
    messages: [...messages],
    sizes,
    count,
    leftOut,
    most,
    copied,
    pace: turnsByTime(),
    total: tokensBefore,
  }
  const units = await unitsOf(messages, state.pace)
  await state.pace()
  const last = units.at(-1)?.turn ?? 0
  const between = turnsBetween(units, last)
  await state.pace()
  const middle = middleOut(between)
  await state.pace()
  await untilFits(state, middle, (_, turn) => {
    for (const unit of turn) if (isOver(state)) leaveOutMedia(state, unit)
  })
  await untilFits(state, middle, (_, turn) => {
    for (const unit of turn) leaveOut(state, unit)
  })
  await untilFits(state, spare(units, last), leaveOut)
  await cutTexts(state)
  await untilFits(state, units, leaveOutMedia)
  return {
    messages: state.messages.filter((message) => message !== undefined),
    leftOut,
    tokensBefore,
    tokensAfter: state.total,
    fits: !isOver(state),
  }
}

async function untilFits<T>(
  state: Shortening,
  items: readonly T[],
  shorten: (state: Shortening, item: T) => void,
): Promise<void> {
  for (const item of items) {
    if (!isOver(state)) return
    shorten(state, item)
    const turn = state.pace()
    if (turn) await turn
  }
}

const isOver = ({ total, most }: Shortening): boolean => total > most

/** The turns after the first and before the last. Units are in the order of their turns. */
function turnsBetween(units: readonly Unit[], last: number): Unit[][] {
  const turns: Unit[][] = []
  for (const [at, unit] of units.entries()) {
    if (unit.turn === 0 || unit.turn === last) continue
    if (units[at - 1]?.turn === unit.turn) turns.at(-1)?.push(unit)
    else turns.push([unit])
  }
  return turns
}

/** What the last turn and then the first one can miss: all but the questions, and in the last turn all but its end. */
function spare(units: readonly Unit[], last: number): Unit[] {
  const isAnswer = ({ isQuestion }: Unit): boolean => !isQuestion
  const inLast = units.filter(({ turn }) => turn === last)
  const inFirst = last === 0 ? [] : units.filter(({ turn }) => turn === 0)
  return [...middleOut(inLast.slice(0, -1).filter(isAnswer)), ...inFirst.filter(isAnswer).reverse()]
}

function leaveOut(state: Shortening, { indexes }: Unit): void {
  for (const index of indexes) {
    if (state.messages[index] === undefined) continue
    state.messages[index] = undefined
    state.leftOut.messages += 1
    state.total -= state.sizes[index] ?? 0
    state.sizes[index] = 0
  }
}

const MEDIA = new Set<ContentPart['type']>(['image', 'file', 'audio', 'video'])

function leaveOutMedia(state: Shortening, { indexes }: Unit): void {
  for (const index of indexes) {
    const message = state.messages[index]
    if (message === undefined || !Array.isArray(message.content)) continue
    let size = state.sizes[index] ?? 0
    let count = 0
    const content = message.content.map((part): ContentPart => {
      if (!MEDIA.has(part.type)) return part
      const text = `[${part.type} left out]`
      count += 1
      size += state.count.text(text) - state.count.media(part)
      return { type: 'text', text }
    })
    if (count === 0) continue
    state.leftOut.media += count
    state.copied.add(index)
    setMessage(state, index, { ...message, content }, size)
  }
}

function setMessage(state: Shortening, index: number, message: Message, size: number): void {
  state.messages[index] = message
  state.total += size - (state.sizes[index] ?? 0)
  state.sizes[index] = size
}

/** Texts that may be cut: results of tools first, then answers, then questions, the longest first. */
async function cutTexts(state: Shortening): Promise<void> {
  for (const role of ['tool', 'assistant', 'user'] as const) {
    const places = state.messages
      .flatMap((message, index) => (message?.role === role ? placesIn(message, index) : []))
      .sort((a, b) => b.length - a.length)
    await untilFits(state, places, (_, { index, part }) => cutText(state, index, part))
  }
}

interface TextPlace {
  readonly index: number
  /** Undefined: the content is the text. */
  readonly part: number | undefined
  readonly length: number
}

function placesIn({ content }: Message, index: number): TextPlace[] {
  if (isString(content)) return [{ index, part: undefined, length: content.length }]
  return (content ?? []).flatMap((each, part) =>
    each.type === 'text' ? [{ index, part, length: each.text.length }] : [],
  )
}

/** Shorter texts are not cut. */
const LEAST_CUT_CHARACTERS = 200
const CUT_ROUNDS = 12

/** Cuts the middle of a text: as little as suffices, found by halving. */
function cutText(state: Shortening, index: number, part: number | undefined): void {
  const message = state.messages[index]
  const text = message === undefined ? undefined : textAt(message, part)
  if (message === undefined || text === undefined || text.length <= LEAST_CUT_CHARACTERS) return
  const before = state.count.text(text)
  const room = state.most - state.total + before
  let least = 0
  let most = state.count.text(cutTo(text, 0)) < room ? text.length : 0
  for (let round = 0; round < CUT_ROUNDS && least + 1 < most; round++) {
    const kept = Math.floor((least + most) / 2)
    if (state.count.text(cutTo(text, kept)) <= room) least = kept
    else most = kept
  }
  const cut = cutTo(text, least)
  const size = (state.sizes[index] ?? 0) + state.count.text(cut) - before
  state.leftOut.characters += text.length - least
  setMessage(state, index, withText(state, index, message, part, cut), size)
}

function textAt({ content }: Message, part: number | undefined): string | undefined {
  if (part === undefined) return isString(content) ? content : undefined
  const found = Array.isArray(content) ? content[part] : undefined
  return found?.type === 'text' ? found.text : undefined
}

/** The parts are copied once for all texts of a message. */
function withText(
  { copied }: Shortening,
  index: number,
  message: Message,
  part: number | undefined,
  text: string,
): Message {
  if (part === undefined || !Array.isArray(message.content)) return { ...message, content: text }
  const content = copied.has(index) ? message.content : [...message.content]
  copied.add(index)
  const former = content[part]
  if (former?.type === 'text') content[part] = { ...former, text }
  return { ...message, content }
}

/** The beginning and the end of a text, with a note between them. Does not split a surrogate pair. */
function cutTo(text: string, kept: number): string {
  const head = Math.ceil(kept / 2)
  const tail = kept - head
  const from = text.length - tail
  const end = isLowSurrogate(text, head) ? head - 1 : head
  const start = isLowSurrogate(text, from) ? from + 1 : from
  return `${text.slice(0, Math.max(0, end))}[… ${start - end} characters left out …]${text.slice(start)}`
}

const isLowSurrogate = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code < 0xe000
}
