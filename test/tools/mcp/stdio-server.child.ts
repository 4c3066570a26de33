/** A real MCP server over stdin and stdout: the protocol's official SDK, with tools that break. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { toolServer } from './server.ts'

const server = toolServer()
const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] })

server.registerTool('where', { description: 'Describes the process' }, () =>
  text(JSON.stringify({ pid: process.pid, folder: process.cwd(), env: Object.keys(process.env).sort() })),
)
server.registerTool('die', { description: 'Ends the process' }, () => process.exit(3))
server.registerTool('hang', { description: 'Never answers' }, () => new Promise<never>(() => undefined))
server.registerTool('freeze', { description: 'Stops the process' }, () => {
  process.kill(process.pid, 'SIGSTOP')
  return text('')
})
server.registerTool('flood', { description: 'Writes a line of 100 MB' }, () => {
  for (let i = 0; i < 100; i++) process.stdout.write('x'.repeat(1024 * 1024))
  return text('')
})
server.registerTool('junk', { description: 'Writes what is not JSON' }, () => {
  process.stdout.write(`{"jsonrpc": ${process.env['LOCAL_TOKEN']}\n\n`)
  process.stderr.write(`token ${process.env['LOCAL_TOKEN']}\n`)
  return text('still here')
})

process.on('SIGTERM', () => process.env['STUBBORN'] || process.exit(0))
await server.connect(new StdioServerTransport())
