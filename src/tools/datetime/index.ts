import { badRequest } from '../../core/errors.ts'
import { isString } from '../../core/json.ts'
import type { ServerTool } from '../tool.ts'

const UTC = 'UTC'
/** The longest name of a zone has 32 characters. */
const MOST_CHARACTERS = 64

/** The date and the time, in the zone of the request or of the call. */
export const datetime: ServerTool = {
  name: 'datetime',
  describe({ timezone }, place) {
    if (timezone !== undefined && timezone !== null && !isZone(timezone))
      throw badRequest('must be a time zone such as "Europe/Zurich"', `${place}.timezone`)
    return {
      description: `The current date and time. Without a time zone: in ${timezone ?? UTC}.`,
      parameters: {
        type: 'object',
        properties: {
          timezone: {
            type: 'string',
            description: 'An IANA time zone, such as Europe/Zurich',
            default: timezone ?? UTC,
          },
        },
        additionalProperties: false,
      },
    }
  },
  async run({ timezone: asked }, { parameters, now }) {
    const zone = asked ?? parameters['timezone'] ?? UTC
    if (!isZone(zone)) throw new Error('timezone must be an IANA time zone, such as Europe/Zurich')
    const at = inZone(now(), zone)
    const weekday = new Intl.DateTimeFormat('en', { weekday: 'long', timeZone: zone }).format(now())
    return { text: `${at} (${weekday}, ${zone})`, item: { datetime: at, timezone: zone } }
  },
}

function isZone(zone: unknown): zone is string {
  if (!isString(zone) || zone.length > MOST_CHARACTERS) return false
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).format(0) !== ''
  } catch {
    return false
  }
}

/** ISO 8601 with the offset of the zone. */
function inZone(at: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'longOffset',
  })
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]))
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? ''
  const offset = part('timeZoneName').slice('GMT'.length) || '+00:00'
  return `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}:${part('second')}${offset}`
}
