// An MCP server on standard input and output, or over Streamable HTTP with the argument http, with tools that behave and
// tools that do not.
import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const text = (text) => ({ content: [{ type: 'text', text }] })

function newServer() {
  const server = new McpServer({ name: 'weather-js', version: '1.0.0' })
  server.registerTool('weather', { inputSchema: { city: z.string() } }, ({ city }) => {
    if (city === 'nowhere') throw new Error('unknown city')
    return text(`sunny in ${city}`)
  })
  server.registerTool('clock', { inputSchema: { city: z.string() } }, ({ city }) => text(`noon in ${city}`))
  server.registerTool('ask', {}, async () => { await server.server.ping(); return text('asked') })
  server.registerTool('shout', {}, () => { writeSync(1, 'debug: shouting\n'); return text('shouted') })
  server.registerTool('flood', {}, () => text('x'.repeat(1 << 20)))
  server.registerTool('hang', {}, () => new Promise(() => {}))
  server.registerTool('die', {}, () => process.exit(7))
  return server
}

if (process.argv[2] === 'http') {
  const { default: express } = await import('express')
  const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js')
  const { serve } = await import('../js/serve.mjs')
  const sessions = new Map()
  const app = express()
  serve(app, () => app.all('/mcp', async (req, res) => {
    let transport = sessions.get(req.headers['mcp-session-id'])
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID, onsessioninitialized: (id) => sessions.set(id, transport),
      })
      await newServer().connect(transport)
    }
    await transport.handleRequest(req, res)
  }))
} else {
  await newServer().connect(new StdioServerTransport())
}
