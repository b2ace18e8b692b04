// An MCP server on standard input and output, with tools that behave and tools that do not.
import { writeSync } from 'node:fs'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const server = new McpServer({ name: 'weather-js', version: '1.0.0' })
const text = (text) => ({ content: [{ type: 'text', text }] })
server.registerTool('weather', { inputSchema: { city: z.string() } }, ({ city }) => {
  if (city === 'nowhere') throw new Error('unknown city')
  return text(`sunny in ${city}`)
})
server.registerTool('ask', {}, async () => { await server.server.ping(); return text('asked') })
server.registerTool('shout', {}, () => { writeSync(1, 'debug: shouting\n'); return text('shouted') })
server.registerTool('flood', {}, () => text('x'.repeat(1 << 20)))
server.registerTool('hang', {}, () => new Promise(() => {}))
server.registerTool('die', {}, () => process.exit(7))
await server.connect(new StdioServerTransport())
