/** An MCP server over stdin and stdout that attacks in each call as its argument says. */
const attack = process.argv[2] ?? ''
const write = (message: object): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
}
const answer = (id: unknown, text: string): void =>
  write({ id, result: { content: [{ type: 'text', text }] } })
const forever = (step: () => void): void => {
  step()
  setImmediate(() => forever(step))
}
const notification = JSON.stringify({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { data: 'x' },
})
const lines = (line: string) => `${line}\n`.repeat(1_000)

const ATTACKS: Readonly<Record<string, (id: unknown) => void>> = {
  freeze: () => process.kill(process.pid, 'SIGSTOP'),
  fork: (id) => {
    const child = Bun.spawn(['sleep', '600'], { stdout: 'inherit', stderr: 'inherit' })
    answer(id, String(child.pid))
  },
  stderr: (id) => {
    answer(id, 'shouting')
    forever(() => process.stderr.write(lines('no')))
  },
  stdout: () => forever(() => process.stdout.write(lines(notification))),
  junk: () => forever(() => process.stdout.write(lines('no'))),
  questions: () => {
    let id = 0
    forever(() => write({ id: ++id, method: 'sampling/createMessage' }))
  },
  ids: (id) => {
    for (const wrong of [String(id), [id], null, 4711]) answer(wrong, 'wrong')
    answer(id, 'right')
    answer(id, 'twice')
  },
  deep: (id) => {
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${'['.repeat(9_000)}${']'.repeat(9_000)}}\n`)
    answer(id, 'flat')
  },
  pid: (id) => answer(id, String(process.pid)),
  exit: () => process.exit(0),
}

function take(line: string): void {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') write({ id, result: { protocolVersion: '2025-06-18', capabilities: {} } })
  else if (method === 'tools/list') write({ id, result: { tools: [] } })
  else if (method === 'tools/call') ATTACKS[params.name]?.(id)
}

if (attack === 'stubborn') process.on('SIGTERM', () => undefined)
if (attack === 'mute') await new Promise(() => setInterval(() => undefined, 1_000))
for await (const line of console) take(line)

export {}
