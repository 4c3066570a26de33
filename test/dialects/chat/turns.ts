import type { JsonObject } from '../../../src/core/events.ts'

/** Messages of chat requests. */

export const USER = { role: 'user', content: 'Hi' }

export const assistant = (more: JsonObject) => ({ role: 'assistant', ...more })

export const fn = (name: string) => ({ type: 'function', function: { name } })

export const call = (id: string) => ({ id, type: 'function', function: { name: 'tide', arguments: '{}' } })

export const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: '14:20', name: 'tide' })

export const text = (value: string) => ({ type: 'text', text: value })

export const thinking = (value: string) => ({ type: 'thinking', thinking: [text(value)] })
