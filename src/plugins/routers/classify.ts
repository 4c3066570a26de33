import { TASKS, type Task, WORDS } from './words.ts'

export interface Classified {
  readonly task: Task
  /** From 0, which any model answers, to 1. */
  readonly difficulty: number
}

/** Read of a long prompt: its beginning and its end, where the instructions are. */
const READ_CHARACTERS = 4_000

/** How much a task needs before it is not small talk. */
const LEAST_EVIDENCE = 2

/**
 * What a prompt asks for, and how difficult it is, by its words: no model is asked, and the same text gives the same answer.
 * Reads at most 8,000 characters.
 */
export function classify(prompt: string): Classified {
  const text =
    prompt.length <= 2 * READ_CHARACTERS
      ? prompt
      : `${prompt.slice(0, READ_CHARACTERS)}\n${prompt.slice(-READ_CHARACTERS)}`
  const evidence: Record<Task, number> = {
    code: 0,
    math: 0,
    writing: 0,
    extraction: 0,
    translation: 0,
    chat: 0,
  }
  let difficulty = 0
  let words = 0
  // The words at the beginning say what to do, and those behind them with what.
  for (const word of wordsOf(text)) {
    words += 1
    const known = WORDS.get(word)
    if (known === undefined) continue
    const { task, weight, hard } = known
    if (task !== null) evidence[task] += words <= 6 ? 1.5 * weight : weight
    difficulty += hard
  }
  const signs = signsOf(text)
  evidence.code += 3 * Math.min(2, signs.fences) + Math.min(3, signs.brackets / 4)
  evidence.math += Math.min(4, signs.operators)
  let task: Task = 'chat'
  for (const each of TASKS)
    if (evidence[each] >= LEAST_EVIDENCE && evidence[each] > evidence[task]) task = each
  return { task, difficulty: bounded(difficulty + lengthOf(prompt.length) + USUAL[task]) }
}

/** Before its words are read. */
const USUAL: Readonly<Record<Task, number>> = {
  code: 0.15,
  math: 0.2,
  writing: 0.05,
  extraction: 0,
  translation: 0,
  chat: 0,
}

const lengthOf = (characters: number): number => Math.min(0.3, Math.log2(1 + characters / 400) / 16)

const bounded = (value: number): number => Math.round(100 * Math.max(0, Math.min(1, value))) / 100

function* wordsOf(text: string): Generator<string> {
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}+#]{1,32}/gu)) yield word
}

interface Signs {
  readonly fences: number
  readonly brackets: number
  readonly operators: number
}

/** Marks of code and of formulas. */
function signsOf(text: string): Signs {
  let fences = 0
  let brackets = 0
  let operators = 0
  for (let i = 0; i < text.length; i++) {
    const character = text[i]!
    if (character === '`' && text.startsWith('```', i)) fences += 1
    else if (BRACKETS.has(character)) brackets += 1
    else if (OPERATORS.has(character) && isDigit(beforeBlanks(text, i))) operators += 1
  }
  return { fences, brackets, operators }
}

const BRACKETS: ReadonlySet<string> = new Set(['{', '}', ';', '[', ']', '<', '>'])
const OPERATORS: ReadonlySet<string> = new Set(['+', '*', '/', '^', '=', '×', '÷', '%'])

const beforeBlanks = (text: string, at: number): string | undefined =>
  text[at - 1] === ' ' ? text[at - 2] : text[at - 1]

const isDigit = (character: string | undefined): boolean =>
  character !== undefined && ((character >= '0' && character <= '9') || character === 'x')
