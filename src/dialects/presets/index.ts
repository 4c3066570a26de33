import { chatPreset } from './chat.ts'
import { geminiPreset } from './gemini.ts'
import { messagesPreset } from './messages.ts'
import type { PresetForm } from './preset-form.ts'
import { responsesPreset } from './responses.ts'

/** The dialects whose requests presets are made of and used in. */
export type PresetDialect = 'chat' | 'responses' | 'messages' | 'gemini'

export const presetForms = {
  chat: chatPreset,
  responses: responsesPreset,
  messages: messagesPreset,
  gemini: geminiPreset,
} satisfies Record<PresetDialect, PresetForm>
