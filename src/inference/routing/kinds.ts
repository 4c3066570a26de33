import type { ApiType } from '../../core/request.ts'
import type { WorkspaceRecord } from '../../core/snapshot.ts'

/** The requirements of a kind of inference on a model. */
interface Kind {
  /** The model must have one of these output modalities. */
  readonly outputs: readonly string[]
  /** Completes "cannot be called for …". */
  readonly purpose: string
  readonly route: string
  /** The workspace's default model, for requests without one, and the name of that setting. */
  readonly defaultName?: string
  defaultModel?(workspace: WorkspaceRecord): string | null | undefined
}

const text = {
  outputs: ['text', 'image', 'audio'],
  purpose: 'text',
  route: 'POST /chat/completions',
  defaultName: 'default text model',
  defaultModel: ({ defaultTextModel }: WorkspaceRecord) => defaultTextModel,
} as const

export const KINDS: Readonly<Record<ApiType, Kind>> = {
  completions: text,
  responses: text,
  messages: text,
  gemini: text,
  embeddings: { outputs: ['embeddings'], purpose: 'embeddings', route: 'POST /embeddings' },
  rerank: { outputs: ['rerank'], purpose: 'ranking', route: 'POST /rerank' },
  moderation: { outputs: ['moderation'], purpose: 'moderation', route: 'POST /moderations' },
  ocr: { outputs: ['ocr'], purpose: 'reading pages', route: 'the plugin file-parser' },
  image: {
    outputs: ['image'],
    purpose: 'images',
    route: 'POST /images',
    defaultName: 'default image model',
    defaultModel: ({ defaultImageModel }) => defaultImageModel,
  },
  tts: { outputs: ['speech', 'audio'], purpose: 'speech', route: 'POST /audio/speech' },
  stt: { outputs: ['transcription'], purpose: 'transcription', route: 'POST /audio/transcriptions' },
}

/** Also true if the model's output modalities are unknown. */
export const canOutput = (outputModalities: readonly string[], apiType: ApiType): boolean =>
  outputModalities.length === 0 || outputModalities.some((name) => KINDS[apiType].outputs.includes(name))

/** The routes that serve a model, as the end of a sentence; '' if no route does. */
export function formatRoute(outputModalities: readonly string[]): string {
  const served = Object.values(KINDS).filter(({ outputs }) =>
    outputs.some((name) => outputModalities.includes(name)),
  )
  const routes = [...new Set(served.map(({ route }) => route))]
  return routes.length === 0 ? '' : `: it is served by ${routes.join(' or ')}`
}
