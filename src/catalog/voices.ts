import { words } from '../core/words.ts'

// Names as the APIs take them, read on 2026-11-22.
/** https://vercel.com/ai-gateway/models/tts-1/about, https://developer.signalwire.com/voice/tts/openai */
const TTS_1 = words('alloy echo fable nova onyx shimmer')
/** https://docs.pipecat.ai/api-reference/server/services/tts/openai */
const GPT_4O_MINI_TTS = words('alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse')
/** https://openrouter.ai/google/gemini-3.8-flash-tts/llms.txt */
const GEMINI = words(`
  Zephyr Puck Charon Kore Fenrir Leda Orus Aoede Callirrhoe Autonoe Enceladus Iapetus Umbriel Algieba Despina Erinome
  Algenib Rasalgethi Laomedeia Achernar Alnilam Schedar Gacrux Pulcherrima Achird Zubenelgenubi Vindemiatrix Sadachbia
  Sadaltager Sulafat
`)

const VOICES: ReadonlyMap<string, readonly string[]> = new Map([
  ['openai/tts-1', TTS_1],
  ['openai/tts-1-hd', TTS_1],
  ['openai/gpt-4o-mini-tts', GPT_4O_MINI_TTS],
])

/** The voices of a model of the catalogue; undefined: unknown. */
export const voicesOf = (id: string): readonly string[] | undefined =>
  VOICES.get(id) ?? (isGeminiSpeech(id) ? GEMINI : undefined)

const isGeminiSpeech = (id: string): boolean =>
  id.startsWith('google/gemini-') && (id.endsWith('-tts') || id.endsWith('-tts-preview'))
