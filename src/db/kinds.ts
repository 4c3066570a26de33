/** Kinds of values that several resources have. */
import { type ArrayOptions, type SchemaOptions, type TSchema, Type } from '@sinclair/typebox'
import { nanoUsdOf, usdOf } from '../core/money.ts'
import { boolean, json, nanoUsd, real, text, word } from './columns.ts'

export const words = (options: { minLength?: number; maxLength: number; description?: string }) => ({
  column: text(),
  body: Type.String(options),
  view: Type.String(),
})
export const flag = (description?: string) => ({
  column: boolean(),
  body: Type.Boolean(description === undefined ? {} : { description }),
  view: Type.Boolean(),
})

/** A list of texts, of which each is checked by `item`. */
export const textsOf = <Item extends TSchema>(item: Item, options: ArrayOptions) => ({
  column: json<string[]>(),
  body: Type.Array<Item>(item, options),
  view: Type.Array(Type.String()),
})
/** A list of names, if it is set; without it there is no restriction. */
export const names = (minItems: 0 | 1, maxItems: number, description: string) =>
  textsOf(Type.String({ minLength: 1, maxLength: 256 }), {
    minItems,
    maxItems,
    description: `${description}; null: no restriction.`,
  })
export const serverToolNames = (owner: string) =>
  textsOf(Type.String({ minLength: 1, maxLength: 100 }), {
    maxItems: 100,
    description: `Server tools that requests of this ${owner} may not use.`,
  })
/** The share of generations that is sampled. */
export const samplingRate = (description: string) => ({
  column: real(),
  body: Type.Number({ minimum: 0.0001, maximum: 1, description }),
  view: Type.Number(),
})

/** The schema of one of these words. TypeBox infers unions from tuples only, not from lists. */
export const wordOf = <const Word extends string>(choices: readonly Word[], options: SchemaOptions = {}) =>
  Type.Unsafe<Word>(
    Type.Union(
      choices.map((choice) => Type.Literal(choice)),
      options,
    ),
  )

/** One of a closed list of words. Replies show any text: a word that is no longer in the list is still shown. */
export const oneOf = <const Word extends string>(choices: readonly Word[], description?: string) => ({
  column: word<Word>(),
  body: wordOf(choices, description === undefined ? {} : { description }),
  view: Type.String(),
})
/** The same for a list of words that will only grow: replies are documented with it. */
export const choice = <const Word extends string>(choices: readonly Word[], description?: string) => {
  const kind = oneOf(choices, description)
  return { ...kind, view: kind.body }
}
export const shownUuid = (description?: string) =>
  Type.String({
    documented: { type: 'string', format: 'uuid' },
    ...(description === undefined ? {} : { description }),
  })

/** 2^53 nano-dollars, the largest amount of a counter, in full dollars. */
const MAX_USD = 9_007_199

/** An amount of money: USD in the API, integer nano-dollars in the column. */
export const usd = (options: { minimum?: number; exclusiveMinimum?: number; description: string }) => ({
  column: nanoUsd(),
  body: Type.Number({ maximum: MAX_USD, ...options }),
  view: Type.Number({ description: 'USD.' }),
  store: nanoUsdOf,
  show: usdOf,
})
