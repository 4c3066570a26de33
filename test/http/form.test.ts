import { describe, expect, test } from 'bun:test'
import { isForm, readForm } from '../../src/http/form.ts'
import { incomingOf } from '../incoming.ts'

const post = (body: BodyInit, type?: string): Request =>
  new Request('http://localhost/', {
    method: 'POST',
    body,
    headers: type === undefined ? {} : { 'content-type': type },
  })

const form = (fields: Record<string, string | Blob>): FormData => {
  const made = new FormData()
  for (const [name, value] of Object.entries(fields)) made.append(name, value)
  return made
}

test('fields and files of a form', async () => {
  const request = post(form({ model: 'm', file: new Blob(['sound'], { type: 'audio/mpeg' }) }))
  expect(isForm(request.headers)).toBe(true)
  const read = await readForm(incomingOf(request), 10_000)
  expect(read.get('model')).toBe('m')
  const file: unknown = read.get('file')
  expect(file instanceof Blob ? await file.text() : file).toBe('sound')
})

describe('a malformed form is a 400, one that is too large a 413', () => {
  const whole = '--x\r\ncontent-disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n'
  const chunked = (text: string): ReadableStream =>
    new ReadableStream({
      start(controller) {
        for (const letter of text) controller.enqueue(new TextEncoder().encode(letter))
        controller.close()
      },
    })
  const rows: [name: string, request: () => Request, limit: number, status: number][] = [
    ['JSON', () => post('{}', 'application/json'), 1_000, 400],
    ['no boundary', () => post(whole, 'multipart/form-data'), 1_000, 400],
    ['another boundary', () => post(whole, 'multipart/form-data; boundary=y'), 1_000, 400],
    ['cut off', () => post(whole.slice(0, 50), 'multipart/form-data; boundary=x'), 1_000, 400],
    ['nothing', () => post('', 'multipart/form-data; boundary=x'), 1_000, 400],
    ['too large', () => post(whole, 'multipart/form-data; boundary=x'), 20, 413],
    ['too large, in chunks', () => post(chunked(whole), 'multipart/form-data; boundary=x'), 20, 413],
  ]
  test.each(rows)('%s', async (_, request, limit, status) => {
    expect(readForm(incomingOf(request()), limit)).rejects.toMatchObject({ status })
  })
  test('within the limit', async () => {
    const read = await readForm(incomingOf(post(whole, 'multipart/form-data; boundary=x')), 1_000)
    expect(read.get('a')).toBe('b')
  })
})

test('a thousand parts are read, more are refused before they are parsed', async () => {
  const parts = (count: number, boundary: string): string =>
    `--${boundary}\r\ncontent-disposition: form-data; name="a[]"\r\n\r\nb\r\n`.repeat(count)
  for (const [boundary, written] of [
    ['x', 'x'],
    ['x y', '"x y"'],
  ] as const) {
    const type = `multipart/form-data; boundary=${written}`
    const taken = post(`${parts(1_000, boundary)}--${boundary}--\r\n`, type)
    expect((await readForm(incomingOf(taken), 1_000_000)).getAll('a[]')).toHaveLength(1_000)
    const refused = post(parts(300_000, boundary), type)
    expect(readForm(incomingOf(refused), 100_000_000)).rejects.toMatchObject({
      status: 400,
      message: 'The form has more than 1000 parts',
    })
  }
})

test('every line that begins like a boundary is counted, the last one of a form too', async () => {
  const refused = post('\r\n--a--'.repeat(2_000), 'multipart/form-data; boundary=a')
  expect(readForm(incomingOf(refused), 100_000)).rejects.toMatchObject({
    message: 'The form has more than 1000 parts',
  })
})

test('the boundary that is checked is the one that is parsed', async () => {
  const part = '--x\r\ncontent-disposition: form-data; name="a[]"\r\n\r\nb\r\n'
  for (const type of [
    'x-boundary=z; boundary=x',
    'boundary=x; boundary=z',
    'boundary=x ; a=b',
    'BOUNDARY="x"',
  ]) {
    const taken = post(`${part}--x--\r\n`, `multipart/form-data; ${type}`)
    expect((await readForm(incomingOf(taken), 1_000)).getAll('a[]')).toEqual(['b'])
    const refused = post(part.repeat(1_001), `multipart/form-data; ${type}`)
    expect(readForm(incomingOf(refused), 100_000)).rejects.toMatchObject({ status: 400 })
  }
})

test('the headers of a part have at most 16 kB; file contents that look like a boundary are not part', async () => {
  const named = (name: string, content: string): Request =>
    post(
      `--x\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${content}\r\n--x--\r\n`,
      'multipart/form-data; boundary=x',
    )
  const long = await readForm(incomingOf(named('a'.repeat(16_000), 'b')), 100_000)
  expect(long.get('a'.repeat(16_000))).toBe('b')
  expect(readForm(incomingOf(named('a'.repeat(17_000), 'b')), 100_000)).rejects.toMatchObject({
    status: 400,
    message: 'The headers of a part of the form have more than 16384 bytes',
  })
  const content = `a--x${'b'.repeat(20_000)}`
  expect((await readForm(incomingOf(named('a', content)), 100_000)).get('a')).toBe(content)
})
