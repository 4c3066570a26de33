import { UpstreamError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { UpstreamReply } from '../../core/reply.ts'
import { errorInReply, isErrorBody } from '../read-error.ts'
import { parseReply } from '../reply-json.ts'

/** A batch of long vectors, or ten large images in base64. */
const LIMIT_BYTES = 192 * 1024 * 1024

/** The JSON of a 2xx reply. Throws `UpstreamError`: `malformed`, or what an error object in it says. */
export async function readJson(reply: UpstreamReply): Promise<unknown> {
  const text = await reply.text(LIMIT_BYTES)
  const body = parse(text, reply.status)
  if (isErrorBody(body) && !hasAnswer(body)) throw errorInReply(body, reply.status)
  return body
}

export async function readJsonObject(reply: UpstreamReply): Promise<JsonObject> {
  const body = await readJson(reply)
  if (!isObject(body)) throw malformed('the reply is no JSON object')
  return body
}

/** Some servers say `message: "ok"` beside what was asked for. */
const ANSWERS = ['data', 'results', 'embeddings', 'predictions', 'candidates', 'text', 'images']
const hasAnswer = (body: unknown): boolean =>
  isObject(body) && !('error' in body) && ANSWERS.some((name) => body[name] !== undefined)

function parse(text: string, status: number): unknown {
  const value = parseReply(text, status)
  if (value === undefined) throw new UpstreamError('malformed', 'the reply is not JSON', { status })
  return value
}

/** An answer that is none; another endpoint may give one. */
export const malformed = (reason: string): UpstreamError =>
  new UpstreamError('malformed', reason, { status: 200 })
