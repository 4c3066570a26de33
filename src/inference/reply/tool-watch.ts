import type { InferenceEvent } from '../../core/events.ts'
import type { ToolCallCounts } from '../../core/generation.ts'
import { asList, type JsonObject, parseObject } from '../../core/json.ts'
import type { Tool } from '../../core/request.ts'

/** Counts which calls of a reply follow the tools of its request. */
export interface ToolWatch {
  see(event: ToolCallEvent): void
  /** Null if the reply calls no tool. */
  counts(): ToolCallCounts | null
}

type ToolCallEvent = Extract<InferenceEvent, { type: 'tool-call-start' | 'tool-call-delta' }>

/** Longer arguments, and further calls, are not judged. */
const MOST_CHARACTERS = 64 * 1024
const MOST_CALLS = 32

/** Null if the request declares no functions. */
export function createToolWatch(tools: readonly Tool[]): ToolWatch | null {
  const functions = tools.filter((tool) => tool.type === 'function')
  if (functions.length === 0) return null
  /** By choice and index. */
  const calls = new Map<string, { name: string; json: string }>()
  const isValid = ({ name, json }: { name: string; json: string }): boolean => {
    const tool = functions.find((declared) => declared.name === name)
    // Some models send no text for a call without arguments.
    const given = tool && (json.trim() === '' ? {} : parseObject(json))
    return given !== undefined && hasRequired(given, tool?.parameters)
  }
  return {
    see(event) {
      const key = `${event.choice} ${event.index}`
      if (event.type === 'tool-call-start') {
        if (calls.size < MOST_CALLS) calls.set(key, { name: event.name, json: '' })
        return
      }
      const call = calls.get(key)
      if (call === undefined) return
      call.json += event.json
      if (call.json.length > MOST_CHARACTERS) calls.delete(key)
    },
    counts() {
      // Calls of other tools (built-in, custom) have no schema.
      const isKnown = functions.length === tools.length
      const judged = [...calls.values()].filter(
        ({ name }) => isKnown || functions.some((declared) => declared.name === name),
      )
      if (judged.length === 0) return null
      return { valid: judged.filter(isValid).length, all: judged.length }
    },
  }
}

const hasRequired = (given: JsonObject, parameters: JsonObject | undefined): boolean =>
  asList(parameters?.['required']).every((field) => typeof field !== 'string' || Object.hasOwn(given, field))
