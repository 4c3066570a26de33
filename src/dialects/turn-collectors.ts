import type { DialectName } from '../core/events.ts'
import { collectGeminiTurn } from './gemini/turn-pieces.ts'
import { collectMessagesTurn } from './messages/turn-pieces.ts'
import { collectResponsesTurn } from './responses/turn-pieces.ts'
import type { TurnCollector } from './turn-pieces.ts'

const COLLECTORS: Readonly<Partial<Record<DialectName, () => TurnCollector>>> = {
  gemini: collectGeminiTurn,
  messages: collectMessagesTurn,
  responses: collectResponsesTurn,
}

/** Null: providers of the dialect run no tools of their own. */
export const turnCollectorOf = (dialect: DialectName): TurnCollector | null => COLLECTORS[dialect]?.() ?? null
