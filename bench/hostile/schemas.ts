import { doublingSchema, list, long, nested, type Scale } from './shape.ts'

/** JSON Schemas, as text, for `response_format` and for tools. */
export const schemas: Readonly<Record<string, (scale: Scale) => string>> = {
  'doubling $defs': () => JSON.stringify(doublingSchema(24)),
  'doubling definitions in allOf': () =>
    JSON.stringify(doublingSchema(24)).replaceAll('{"$ref"', '{"allOf":[{"type":"object"}],"$ref"'),
  'cycle of $refs': () =>
    '{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"},{"$ref":"#"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"},{"$ref":"#"}]}}}',
  'many cycles of $refs': () => {
    const refs = Array.from({ length: 12 }, (_, index) => ({ $ref: `#/$defs/d${index}` }))
    const defs = Object.fromEntries(refs.map((_, index) => [`d${index}`, { anyOf: refs }]))
    return JSON.stringify({ type: 'object', properties: { a: { anyOf: refs } }, $defs: defs })
  },
  'one large definition, often': (scale) => {
    const wide = list(scale, 5_000, (index) => `{"const":"value ${index}"}`)
    const refs = list(scale, 5_000, () => '{"$ref":"#/$defs/wide"}')
    return `{"type":"object","properties":{"a":{"anyOf":${refs}}},"$defs":{"wide":{"anyOf":${wide}}}}`
  },
  'many properties': (scale) =>
    `{"type":"object","properties":{${list(scale, 200_000, (index) => `"p${index}":{"type":"string"}`).slice(1, -1)}}}`,
  'many required': (scale) =>
    `{"type":"object","properties":{"a":{"type":"string"}},"required":${list(scale, 1_000_000, () => '"a"')}}`,
  'many of allOf': (scale) =>
    `{"type":"object","properties":{"a":{"allOf":${list(scale, 100_000, (index) => `{"properties":{"p${index}":{"type":"string"}},"required":["p${index}"]}`)}}}}`,
  'many of anyOf': (scale) =>
    `{"type":"object","properties":{"a":{"anyOf":${list(scale, 200_000, () => '{"type":["string","null"]}')}}}}`,
  'long enum': (scale) =>
    `{"type":"object","properties":{"a":{"enum":${list(scale, 1_000_000, (index) => `"v${index}"`)}}}}`,
  'long pointers': (scale) =>
    `{"type":"object","properties":{"a":{"anyOf":${list(scale, 1_000, () => `{"$ref":"#/${'a/'.repeat(9_000)}"}`)}}}}`,
  'long description': (scale) => `{"type":"object","description":"${long(scale, 'a ')}"}`,
  'long pattern': (scale) =>
    `{"type":"object","properties":{"a":{"type":"string","pattern":"${long(scale, '(a+)+')}"}}}`,
  'deep schema': () =>
    `{"type":"object","properties":{"a":${nested(28, '{"type":"array","items":', '}', '{}')}}}`,
  'many unknown keywords': (scale) =>
    `{"type":"object",${list(scale, 500_000, (index) => `"k${index}":1`).slice(1, -1)}}`,
}
