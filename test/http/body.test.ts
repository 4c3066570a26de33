import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../src/core/errors.ts'
import { isDeeperThan, MAX_JSON_PARTS, MAX_JSON_RUN, MAX_JSON_VALUES } from '../../src/core/json-bounds.ts'
import { parseJsonObject, readJsonBody } from '../../src/http/body.ts'
import { incomingOf } from '../incoming.ts'

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
const post = (body: BodyInit, headers: Record<string, string> = {}): Request =>
  new Request('http://localhost/', { method: 'POST', body, headers })

async function failureOf(work: () => unknown): Promise<GatewayError> {
  try {
    await work()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('it did not fail')
}

const nested = (depth: number): string => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`

describe('what a body may hold', () => {
  const strings = (count: number): string => `{"a":[${Array(count).fill('"b"').join()}]}`
  const numbers = (count: number): string => `{"a":[${Array(count).fill(1).join()}]}`

  test('as many strings, objects and lists as are let in', async () => {
    // The body itself, its list and its name.
    expect(parseJsonObject(bytes(strings(MAX_JSON_PARTS - 3)))).toHaveProperty('a')
    const failure = await failureOf(() => parseJsonObject(bytes(strings(MAX_JSON_PARTS - 2))))
    expect(failure).toMatchObject({
      status: 400,
      message: `The request body holds more than ${MAX_JSON_PARTS} strings, objects and lists`,
    })
  })

  test('as many values', async () => {
    expect(parseJsonObject(bytes(numbers(MAX_JSON_VALUES)))).toHaveProperty('a')
    const failure = await failureOf(() => parseJsonObject(bytes(numbers(MAX_JSON_VALUES + 1))))
    expect(failure).toMatchObject({
      status: 400,
      message: `The request body holds more than ${MAX_JSON_VALUES} values`,
    })
  })

  test('a million fields, objects or lists are refused without being parsed', async () => {
    for (const inside of [
      '"f":1,'.repeat(1_000_000),
      `"f":[${'{},'.repeat(1_000_000)}`,
      `"f":[${'[],'.repeat(1e6)}`,
    ]) {
      // The end is missing: the parser would find that.
      const failure = await failureOf(() => parseJsonObject(bytes(`{${inside}`)))
      expect(failure.message).toContain('strings, objects and lists')
    }
  })
})

describe('numbers', () => {
  const failing = async (text: string) => (await failureOf(() => parseJsonObject(bytes(text)))).message

  test('a number of more digits is refused, in the middle and at the end', async () => {
    const run = '9'.repeat(MAX_JSON_RUN + 1)
    for (const text of [`{"a":${run},"b":1}`, `{"a":1}${run}`, `${run}{"a":1}`])
      expect(await failing(text)).toBe(`The request body holds a number of more than ${MAX_JSON_RUN} digits`)
  })

  test('blanks are not a number', () => {
    expect(parseJsonObject(bytes(`{"a":${' '.repeat(2 * MAX_JSON_RUN)}1}`))).toEqual({ a: 1 })
  })

  test('long strings are not numbers', () => {
    expect(parseJsonObject(bytes(`{"a":"${' '.repeat(2 * MAX_JSON_RUN)}"}`))).toHaveProperty('a')
  })

  test('names that are numbers count four times: the engine keeps them in a slower form', async () => {
    const names = (count: number): string =>
      `{${Array.from({ length: count }, (_, i) => `"${i * 7919}":1`).join()}}`
    expect(parseJsonObject(bytes(names(MAX_JSON_PARTS / 4 - 1)))).toHaveProperty('7919')
    expect(await failing(names(MAX_JSON_PARTS / 4))).toContain('strings, objects and lists')
    expect(
      parseJsonObject(
        bytes(
          `{"a":[${Array(MAX_JSON_PARTS - 10)
            .fill('"1 is text"')
            .join()}]}`,
        ),
      ),
    ).toHaveProperty('a')
  })
})

describe('depth', () => {
  test('64 levels are read, 65 are refused', async () => {
    expect(parseJsonObject(bytes(nested(64)))).toHaveProperty('a')
    const failure = await failureOf(() => parseJsonObject(bytes(nested(65))))
    expect(failure).toMatchObject({ status: 400, message: expect.stringContaining('64 levels') })
  })

  test('400,000 open brackets are refused without being parsed', async () => {
    const failure = await failureOf(() => parseJsonObject(bytes(`{"a":${'['.repeat(400_000)}`)))
    expect(failure.message).toContain('64 levels')
  })

  const inStrings: [string, string][] = [
    ['brackets in a string', `{"a":"${'['.repeat(100)}"}`],
    ['escaped quotes before brackets', `{"a":"${'\\"['.repeat(100)}"}`],
    ['a string that ends in a backslash', `{"a":"x\\\\","b":"${'{'.repeat(100)}"}`],
    ['a long string that ends in backslashes', `{"a":"${'x'.repeat(90)}\\\\\\\\","b":"${'{'.repeat(100)}"}`],
    ['a long run of backslashes', `{"a":"${'\\\\'.repeat(70)}","b":"${'[['.repeat(70)}"}`],
    ['siblings', `{"a":[${Array(200).fill('[{}]').join()}]}`],
    ['a bracket in a name', `{"${'['.repeat(70)}":1}`],
  ]
  for (const [name, text] of inStrings) {
    test(`${name} is not depth`, () => {
      expect(parseJsonObject(bytes(text))).toEqual(JSON.parse(text))
    })
  }

  test('strings of every length and every number of backslashes are skipped exactly', () => {
    for (let length = 0; length < 120; length++) {
      for (let slashes = 0; slashes < 4; slashes++) {
        const text = JSON.stringify({ a: 'x'.repeat(length) + '\\'.repeat(slashes), b: [['[[[', '"]"']] })
        expect({ text, deeper: isDeeperThan(bytes(text), 3) }).toEqual({ text, deeper: false })
        expect({ text, deeper: isDeeperThan(bytes(text), 2) }).toEqual({ text, deeper: true })
      }
    }
  })

  test('each byte of short strings is read once, however many there are', () => {
    const text = bytes(
      JSON.stringify(Array.from({ length: 20_000 }, (_, i) => ({ role: 'user', content: `text ${i} "q"` }))),
    )
    let reads = 0
    const counted = new Proxy(text, {
      get(target, name) {
        if (name === 'length') return target.length
        reads += 1
        return Reflect.get(target, name)
      },
    })
    expect(isDeeperThan(counted, 64)).toBe(false)
    // Strings of up to ten bytes are read again, to see whether they are numbers.
    expect(reads).toBeLessThan(1.5 * text.length)
  })
})

describe('text', () => {
  const unchanged: [string, string][] = [
    ['a lone surrogate', '{"a":"\\ud800"}'],
    ['an escaped NUL', '{"a":"\\u0000"}'],
    ['right-to-left marks and emoji of four bytes', '{"a":"\u202e👩‍👩‍👧"}'],
    ['a byte order mark', '\ufeff{"a":1}'],
    ['__proto__ as a plain name', '{"__proto__":{"polluted":true}}'],
  ]
  for (const [name, text] of unchanged) {
    test(`${name} stays as it is`, () => {
      expect(JSON.stringify(parseJsonObject(bytes(text)))).toBe(text.replace('\ufeff', ''))
      expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('polluted')
    })
  }

  const refused: [string, Uint8Array, string][] = [
    ['nothing', bytes(''), 'empty'],
    ['blanks', bytes('  '), 'malformed JSON'],
    ['invalid UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'UTF-8'],
    ['UTF-16', new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0]), 'UTF-8'],
    ['a raw NUL in a string', bytes('{"a":"\u0000"}'), 'malformed JSON'],
    ['two values', bytes('{} {}'), 'malformed JSON'],
    ['NaN', bytes('{"a":NaN}'), 'malformed JSON'],
    ['a number', bytes('1'), 'not a number'],
    ['a string', bytes('"a"'), 'not a string'],
    ['an array', bytes('[{}]'), 'not an array'],
    ['null', bytes('null'), 'not null'],
    ['false', bytes('false'), 'not a boolean'],
  ]
  for (const [name, body, words] of refused) {
    test(`${name} is refused`, async () => {
      const failure = await failureOf(() => parseJsonObject(body))
      expect(failure).toMatchObject({ status: 400, message: expect.stringContaining(words) })
    })
  }
})

describe('size', () => {
  test('as large as the limit is read', async () => {
    const body = `{"a":"${'x'.repeat(92)}"}`
    expect(await readJsonBody(incomingOf(post(body)), 100)).toHaveProperty('a')
  })

  test('a declared length above the limit is refused before the body is read', async () => {
    const request = post(new ReadableStream({ pull: () => {} }), { 'content-length': '101' })
    expect(await failureOf(() => readJsonBody(incomingOf(request), 100))).toMatchObject({ status: 413 })
  })

  test('a body without a length is counted, and not read on beyond the limit', async () => {
    let sent = 0
    const endless = new ReadableStream({
      pull(controller) {
        sent += 40
        controller.enqueue(new Uint8Array(40).fill(0x20))
      },
    })
    expect(await failureOf(() => readJsonBody(incomingOf(post(endless)), 100))).toMatchObject({ status: 413 })
    expect(sent).toBeLessThan(1000)
  })

  test('many chunks are one body', async () => {
    const parts = [...bytes('{"a":"é👋"}')].map((byte) => new Uint8Array([byte]))
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const part of parts) controller.enqueue(part)
        controller.close()
      },
    })
    expect(await readJsonBody(incomingOf(post(body)), 100)).toEqual({ a: 'é👋' })
  })

  test('a body that breaks off is a 400', async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) })
    expect(await failureOf(() => readJsonBody(incomingOf(post(body)), 100))).toMatchObject({
      status: 400,
      message: expect.stringContaining('broke off'),
    })
  })
})

describe('content type', () => {
  const accepted = ['application/json', 'Application/JSON; Charset=utf-8', 'application/vnd.api+json', '']
  const refused = [
    'text/plain',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/x-ndjson',
  ]
  for (const type of accepted) {
    test(`${JSON.stringify(type)} is read as JSON`, async () => {
      expect(await readJsonBody(incomingOf(post(bytes('{"a":1}'), { 'content-type': type })), 100)).toEqual({
        a: 1,
      })
    })
  }
  for (const type of refused) {
    test(`${JSON.stringify(type)} is refused`, async () => {
      const failure = await failureOf(() =>
        readJsonBody(incomingOf(post('{}', { 'content-type': type })), 100),
      )
      expect(failure).toMatchObject({ status: 400, message: expect.stringContaining('application/json') })
    })
  }
  for (const encoding of ['gzip', 'br', 'identity, gzip']) {
    test(`Content-Encoding ${encoding} is refused`, async () => {
      expect(
        await failureOf(() => readJsonBody(incomingOf(post('{}', { 'content-encoding': encoding })), 100)),
      ).toMatchObject({
        status: 400,
      })
    })
  }
})
