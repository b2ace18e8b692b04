// An MCP client that starts the server of its arguments, and prints the results of its calls.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const calls = [['weather', { city: 'Rome' }], ['weather', { city: 'nowhere' }], ['ask'], ['shout'], ['flood'], ['hang'], ['die']]
const client = new Client({ name: 'planner', version: '1.0.0' })
await client.connect(new StdioClientTransport({ command: process.argv[2], args: process.argv.slice(3) }))
console.log('tools', (await client.listTools()).tools.length)
for (const [name, args] of calls) {
  try {
    const result = await client.callTool({ name, arguments: args ?? {} }, undefined, { timeout: name === 'hang' ? 500 : 30000 })
    console.log(name, result.isError ? 'failed' : 'worked', result.content[0].text.length)
  } catch (e) {
    console.log(name, 'no answer', e.constructor.name)
  }
}
await client.close()
