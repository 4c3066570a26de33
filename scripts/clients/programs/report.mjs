/**
 * What every JavaScript program of this folder does: run one check of one surface and print one line of JSON.
 * `surfaces` maps a name to its functions: `answer`, `stream`, `tools`, `image` and `cancel`, or some of them. Each adds
 * what it receives to `out`.
 */
export const url = process.env.SLUICE_URL
export const key = process.env.SLUICE_KEY
export const model = process.env.SLUICE_MODEL
/** A PNG in base64. */
export const image = process.env.SLUICE_IMAGE
export const PROMPT = 'How warm is it in Oslo?'
export const TOOL = {
  name: 'temperature',
  description: 'The temperature in a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
/** What the tool answers. The scripted provider finishes only after it has read this. */
export const temperatureIn = (city) => `${city}: 11 degrees`

export async function report(surfaces) {
  const [surface, check] = process.argv.slice(2)
  const out = { text: '', pieces: 0 }
  try {
    const run = surfaces[surface][check]
    if (run) await run(out)
    else out.missing = true
  } catch (error) {
    out.error = `${error?.name}: ${error?.message}`
  }
  process.stdout.write(`${JSON.stringify(out)}\n`, () => process.exit(0))
}

/** After a program has cancelled: it goes on, so that the gateway does not learn it from its end. */
export const linger = () => new Promise((resolve) => setTimeout(resolve, 2000))

export function piece(out, text) {
  if (!text) return
  out.text += text
  out.pieces += 1
}
