/** What a prompt asks for. */
export const TASKS = ['code', 'math', 'writing', 'extraction', 'translation', 'chat'] as const
export type Task = (typeof TASKS)[number]

interface Known {
  /** Null: the word is of every task. */
  readonly task: Task | null
  readonly weight: number
  /** Added to the difficulty. */
  readonly hard: number
}

/** Words by task, by how much they say: 3 alone decides, 1 needs others beside it. */
const OF_TASK: Readonly<Record<Exclude<Task, 'chat'>, Readonly<Record<1 | 2 | 3, string>>>> = {
  code: {
    3: 'python javascript typescript java kotlin rust golang php ruby swift c++ c# sql regex bash powershell css html react vue angular django flask kubernetes docker dockerfile terraform git github nginx webpack npm graphql postgres postgresql mysql sqlite mongodb haskell scala compiler segfault stacktrace traceback nullpointerexception typeerror refactor debug debugging codebase cuda pandas numpy mutex async await makefile yaml',
    2: 'code bug compile function endpoint script programming unittest pytest jest class algorithm api query repository deadlock thread threads recursion pointer heap stack queue linux shell terminal backend frontend middleware websocket css json schema migration component hook limiter lock queue race unit',
    1: 'implement implementation error exception return import loop array variable string file database server method module package test tests merge commit branch cache crash crashes library framework app cli parser',
  },
  math: {
    3: 'prove proof theorem integral integrate derivative differentiate polynomial eigenvalue eigenvalues matrix matrices equation equations trigonometric logarithm factorial modulo hypotenuse combinatorics calculus algebra geometry bayes variance lemma converges convergence divisible irrational quadratic',
    2: 'solve probability calculate compute triangle prime sum equals percent percentage fraction average mean median dice coins coin radius circumference perimeter volume integers integer square root roots sequence vector vectors expected',
    1: 'how many number numbers total distance speed expected sum interest area angle rate ratio maximum minimum hours km meters value',
  },
  writing: {
    3: 'poem haiku sonnet story essay lyrics novel limerick screenplay blog slogan tagline toast eulogy fable monologue newsletter backstory stanza',
    2: 'email letter speech rewrite draft headline caption tone tweet article paragraph character dialogue description biography bio cover post announcement proofread rephrase paraphrase polish invitation press persuasive song scene chapter',
    1: 'write compose creative friendly formal professional catchy funny style title marketing product audience grammar wording plot',
  },
  extraction: {
    3: 'summarize summarise summary extract classify categorize categorise tldr sentiment entities bullet bullets label labels',
    2: 'list table fields key points csv json topics keywords tag tags invoice receipt transcript minutes identify find following text spam positive negative neutral outline',
    1: 'document article review reviews below each names dates email paragraph main passage report ticket',
  },
  translation: {
    3: 'translate translation übersetze traduis traduce traduire traducir übersetzen localize localise',
    2: 'french german spanish italian portuguese japanese chinese korean russian arabic dutch polish turkish hindi swedish greek latin',
    1: 'english into say language idiom',
  },
}

/** Words that make a task more difficult, or less. */
const HARDNESS: Readonly<Record<string, string>> = {
  '0.25':
    'prove proof theorem architecture distributed concurrency concurrent deadlock consensus rigorous formally optimize optimal np asymptotic sharding idempotent race lemma eigenvalues adversarial counterexample tradeoffs',
  '0.15':
    'design refactor debug complexity constraints analyze analyse compare evaluate scalable performance derive derivation algorithm integral security vulnerability vulnerabilities migrate migration critique strategy multithreaded leak bottleneck invariant contradictions contradiction throughput latency exactly integrate combinatorics bayes nuanced implications',
  '0.08':
    'implement explain why step steps edge cases must ensure without handle robust thorough detailed comprehensive legal medical diagnose argue evidence reason reasoning several multiple justify plan tests',
  '-0.1': 'hi hello hey thanks thank quick simple short briefly joke please capital define brief one',
}

export const WORDS: ReadonlyMap<string, Known> = known()

function known(): Map<string, Known> {
  const all = new Map<string, Known>()
  for (const task of ['code', 'math', 'writing', 'extraction', 'translation'] as const)
    for (const weight of [1, 2, 3] as const)
      for (const word of OF_TASK[task][weight].split(' ')) all.set(word, { task, weight, hard: 0 })
  for (const [hard, words] of Object.entries(HARDNESS))
    for (const word of words.split(' ')) {
      const { task, weight } = all.get(word) ?? { task: null, weight: 0 }
      all.set(word, { task, weight, hard: Number(hard) })
    }
  return all
}
