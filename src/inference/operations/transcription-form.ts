import { audioDuration } from '../../core/audio-duration.ts'
import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import type { AudioFile, TranscriptionRequest } from '../../core/operation.ts'
import { parseTranscriptionForm } from '../../dialects/operations/transcription.ts'

/** Parses the form. Throws a `GatewayError` 400 that names the field. */
export async function readTranscriptionForm(
  form: FormData,
  headers: Headers,
  filter: (body: JsonObject) => Promise<JsonObject>,
): Promise<TranscriptionRequest> {
  const body: JsonObject = {}
  let audio: AudioFile | null = null
  for (const [written, value] of form.entries()) {
    const name = written.replace(/\[\]$/, '')
    if (typeof value !== 'string') {
      if (name !== 'file') throw badRequest('must be text, not a file', name)
      audio = await fileOf(value)
    } else if (written.endsWith('[]')) listAt(body, name).push(value)
    else body[name] = fieldOf(name, value)
  }
  if (audio === null) {
    throw badRequest(form.has('file') ? 'must be a file, not text' : 'is required: the recording', 'file')
  }
  return parseTranscriptionForm(await filter(body), audio, headers)
}

async function fileOf(file: File): Promise<AudioFile> {
  if (file.size === 0) throw badRequest('must not be empty', 'file')
  return { content: file, name: file.name || 'audio', seconds: audioDuration(await file.bytes()) }
}

/** The list of this name; a single value becomes its first item. */
function listAt(body: JsonObject, name: string): unknown[] {
  const former = body[name]
  if (Array.isArray(former)) return former
  const list: unknown[] = former === undefined ? [] : [former]
  body[name] = list
  return list
}

function fieldOf(name: string, text: string): unknown {
  if (name === 'temperature' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text)
  if (name === 'timestamp_granularities') return [text]
  if (name !== 'provider' && name !== 'trace') return text
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    throw badRequest('must be JSON', name)
  }
}
