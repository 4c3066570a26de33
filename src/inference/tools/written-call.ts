import type { JsonObject } from '../../core/events.ts'
import { parseObject } from '../../core/json.ts'

/** A call of a server tool as the model wrote it. */
export interface WrittenCall {
  readonly id: string
  /** Of the function. */
  readonly name: string
  readonly json: string
  /** The rest of the arguments was left out. */
  readonly isTooLong: boolean
  readonly extra?: JsonObject | undefined
  /** Of the request that the user approved. */
  readonly approvalRequestId?: string
}

export const MOST_ARGUMENT_CHARACTERS = 64 * 1024

/** Undefined: no JSON object. Some models write nothing for a function without parameters. */
export const argumentsIn = (json: string): JsonObject | undefined =>
  json.trim() === '' ? {} : parseObject(json)
