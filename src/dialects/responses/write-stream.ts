import type { JsonObject } from '../../core/events.ts'
import type { Closing, PublicError, ReplyContext } from '../../core/result.ts'
import type { StreamWriter } from '../dialect.ts'
import { addEvents, nativeResponseOf, outputFor } from './reply-output.ts'
import { createEventWriter, jsonList } from './write-events.ts'
import { type Ending, endingOf, errorTypeOf, viewError, viewResponse } from './write-response.ts'

/**
 * Writes a response as events, in the order of api-surface §20.3. `response.created` comes with the first thing that
 * is written, even if that is the failure. After `end` or `fail` every method returns ''.
 */
export function writeResponsesStream(reply: ReplyContext): StreamWriter {
  const events = createEventWriter()
  const output = outputFor(reply, events)
  let native: JsonObject | null = null
  let hasBegun = false
  let complete: JsonObject | null = null

  function begin(): string {
    if (hasBegun) return ''
    hasBegun = true
    const response = viewResponse(reply, { status: 'in_progress', output: [], closing: null, native })
    // Instructions and tools can be long: they are written out once.
    const json = events.jsonOf(response)
    return (
      events.writeField('response.created', {}, 'response', json) +
      events.writeField('response.in_progress', {}, 'response', json)
    )
  }

  function finish({ itemStatus, ...shown }: Ending, closing: Closing | null, more: JsonObject): string {
    events.nextCall()
    const text = begin() + output.close(itemStatus)
    const items = output.items()
    complete = { ...viewResponse(reply, { ...shown, output: items, closing, native }), ...more }
    const known = new Map([
      ['output', jsonList(items.map(events.jsonOf))],
      ['output_text', events.jsonOf(complete.output_text)],
    ])
    const json = events.jsonWith(complete, known)
    const fields = shown.error && reply.request.errorInEvent ? { error: shown.error } : {}
    return text + events.writeField(`response.${shown.status}`, fields, 'response', json) + events.terminate()
  }

  function fail(error: PublicError): string {
    const routing = reply.routing?.() ?? null
    return finish({ status: 'failed', itemStatus: 'incomplete', error: viewError(error) }, null, {
      error_type: errorTypeOf(error),
      ...(routing ? { service_metadata: routing, openrouter_metadata: routing } : {}),
    })
  }

  return {
    echo(body) {
      if (complete) return ''
      events.nextCall()
      return begin() + events.write('response.debug', { debug: { echo_upstream_body: body } })
    },
    write(frame) {
      if (complete) return ''
      events.nextCall()
      const [first] = frame.events
      if (frame.plainText !== undefined && first?.type === 'text-delta')
        return begin() + output.spliceText(frame.plainText.jsons, first.text)
      for (const event of frame.events) {
        const reported = nativeResponseOf(event)
        if (reported) native = { ...native, ...reported }
      }
      return begin() + addEvents(output, frame.events)
    },
    end: (closing) => (complete ? '' : finish(endingOf(closing), closing, {})),
    fail: (error) => (complete ? '' : fail(error)),
    holdLong: (take) => events.holdLong(take),
    reply: () => complete,
  }
}
