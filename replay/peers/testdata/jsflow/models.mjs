// Calls models with the SDKs of their vendors, and prints what the SDK makes of each answer, a line of JSON for each call.
//
// Its arguments are the texts of the users: each vendor's model gets each of them, once whole and once as a stream.
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'

const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const tool = { name: 'weather', description: 'Tell the weather.' }
const openai = new OpenAI()
const anthropic = new Anthropic()

async function chat(text, stream) {
  const request = {
    model: 'gpt-js', messages: [{ role: 'user', content: text }], tools: [{ type: 'function', function: { ...tool, parameters } }],
  }
  const answer = stream
    ? await openai.chat.completions.stream({ ...request, stream_options: { include_usage: true } }).finalChatCompletion()
    : await openai.chat.completions.create(request)
  const message = answer.choices[0].message
  const calls = (message.tool_calls ?? []).map((call) => [call.function.name, call.function.arguments])
  return [message.content, calls, answer.usage.prompt_tokens, answer.usage.completion_tokens]
}

async function responses(text, stream) {
  const request = { model: 'gpt-js-r', input: text, tools: [{ type: 'function', ...tool, parameters, strict: false }] }
  const answer = stream ? await openai.responses.stream(request).finalResponse() : await openai.responses.create(request)
  const calls = answer.output.filter((item) => item.type === 'function_call').map((item) => [item.name, item.arguments])
  return [answer.output_text, calls, answer.usage.input_tokens, answer.usage.output_tokens]
}

async function messages(text, stream) {
  const request = {
    model: 'claude-js', max_tokens: 100, messages: [{ role: 'user', content: text }], tools: [{ ...tool, input_schema: parameters }],
  }
  const answer = stream ? await anthropic.messages.stream(request).finalMessage() : await anthropic.messages.create(request)
  const said = answer.content.filter((block) => block.type === 'text').map((block) => block.text).join('')
  const calls = answer.content.filter((block) => block.type === 'tool_use').map((block) => [block.name, JSON.stringify(block.input)])
  return [said, calls, answer.usage.input_tokens, answer.usage.output_tokens]
}

for (const text of process.argv.slice(2)) {
  for (const [call, model] of [[chat, 'gpt-js'], [responses, 'gpt-js-r'], [messages, 'claude-js']]) {
    for (const stream of [false, true]) {
      const line = { model, stream }
      try {
        const [text_, calls, input, output] = await call(text, stream)
        line.calls = calls.map(([name, args]) => ({ name, arguments: JSON.parse(args) }))
        Object.assign(line, { text: text_, input, output })
      } catch (e) {
        if (!(e instanceof OpenAI.APIError || e instanceof Anthropic.APIError)) throw e
        line.failed = e.status
      }
      console.log(JSON.stringify(line))
    }
  }
}
