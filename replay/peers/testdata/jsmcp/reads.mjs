// An MCP client that starts a server, makes the calls of its first argument, and prints the tools and the answers as JSON.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const [calls, command, ...args] = process.argv.slice(2)
const client = new Client({ name: 'reader', version: '1.0.0' })
await client.connect(new StdioClientTransport({ command, args, stderr: 'inherit' }))
const tools = (await client.listTools()).tools.map((tool) => tool.name)
const answers = []
for (const [name, args] of JSON.parse(calls)) {
  const result = await client.callTool({ name, arguments: args })
  answers.push({ failed: result.isError === true, text: result.content[0].text })
}
console.log(JSON.stringify({ tools, answers }))
await client.close()
