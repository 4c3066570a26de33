/**
 * What every JavaScript program of this folder does: run one check of one surface and print one line of JSON.
 * `surfaces` maps a name to its functions `answer`, `stream` and `tools`; each adds what it receives to `out`.
 */
export const url = process.env.SLUICE_URL
export const key = process.env.SLUICE_KEY
export const model = process.env.SLUICE_MODEL
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
    await surfaces[surface][check](out)
  } catch (error) {
    out.error = `${error?.name}: ${error?.message}`
  }
  process.stdout.write(`${JSON.stringify(out)}\n`, () => process.exit(0))
}

export function piece(out, text) {
  if (!text) return
  out.text += text
  out.pieces += 1
}
